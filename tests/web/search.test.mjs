// A search that a browser watches: node search.test.mjs MODULES CUTTLE SOURCE DIRECTORY [CHROMIUM]
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { check, cuttle, directory, end, launch, source } from './harness.mjs';

rmSync(join(directory, 'search'), { recursive: true, force: true });
const program = spawn(cuttle, ['optimize', join(source, 'scenes/identify.json'), '-o', join(directory, 'search'), '--view'], {
  stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, DISPLAY: '', WAYLAND_DISPLAY: '', BROWSER: '' },
});
const ended = new Promise((resolve) => { program.on('exit', resolve); });
const address = await new Promise((resolve, reject) => {
  let text = '';
  program.stderr.on('data', (piece) => {
    text += piece;
    const found = text.match(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//);
    if (found) resolve(found[0]);
  });
  program.on('exit', (code) => reject(new Error(`cuttle optimize ended with ${code}: ${text}`)));
});

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 800, height: 500 } });
const problems = [];
page.on('pageerror', (error) => problems.push(error.message));
await page.goto(address);
await page.waitForFunction(() => window.cuttle);
await page.evaluate(async () => { window.viewer = await window.cuttle; });

await check('the page shows the loss as it falls, and plays the best motion', async () => {
  await page.waitForFunction(() => viewer.live.search && viewer.live.motions && viewer.app.shownFrames > 2, null, { timeout: 60000 });
  assert.ok(await page.evaluate(() => viewer.app.playing && viewer.app.run.nframe > 10));
  assert.equal(await page.locator('.live figure.plot canvas').count(), 1);
});

await check('the search ends by itself, and the last motion is its result', async () => {
  await page.waitForFunction(() => viewer.live.search.reason, null, { timeout: 60000 });
  assert.equal(await ended, 0);
  const { best, motion } = await page.evaluate(() => {
    const { run } = viewer.app;
    const surface = [...new Set(run.triangle)].sort((a, b) => a - b);
    return { best: viewer.live.search.best, motion: surface.map((i) => run.point(i, run.nframe - 1)) };
  });
  assert.ok(best.length > 2 && best.every((value, k) => !k || value <= best[k - 1]) && best[best.length - 1] < 1e-6 * best[0], best.join(' '));
  execFileSync(cuttle, ['export', 'search/result.h5', '-o', 'search/obj', '--format', 'obj', '--frames', '-1', '-q'], { cwd: directory });
  const [name] = readdirSync(join(directory, 'search/obj'));
  const points = readFileSync(join(directory, 'search/obj', name), 'utf8').split('\n').filter((line) => line.startsWith('v ')).map((line) => line.slice(2).split(' ').map(Number));
  assert.equal(motion.length, points.length);
  const away = Math.max(...motion.map((at, i) => Math.hypot(at[0] - points[i][0], at[1] - points[i][1], at[2] - points[i][2])));
  assert.ok(away < 1e-5, `${away} m`);
  await page.waitForFunction(() => document.querySelector('.live .note')?.textContent.includes('search has ended'), null, { timeout: 10000 });
  assert.deepEqual(problems, []);
});

await page.screenshot({ path: join(directory, 'search.png') });
await browser.close();
program.kill();
end();
