// The viewer in a real browser: node viewer.test.mjs MODULES CUTTLE SOURCE DIRECTORY [CHROMIUM]
//
// Runs a scene, writes its page, opens it in chromium with SwiftShader, and looks: does it load without an error, do
// frames advance, is the frame that is shown the one that the trajectory has, does picking find nodes, does a
// screenshot look like the software renderer's picture of the same frame?
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { check, cuttle, directory, end, launch, source } from './harness.mjs';

const run = (...args) => execFileSync(cuttle, args, { encoding: 'utf8', cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });

const browser = await launch();

async function open(address, options = {}) {
  const page = await browser.newPage({ viewport: { width: 800, height: 500 }, ...options });
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && page.problems.push(message.text()));
  await page.goto(address);
  await page.waitForFunction(() => window.cuttle);
  await page.evaluate(async () => { window.viewer = await window.cuttle; });
  return page;
}

// The nodes of a frame as `cuttle export` writes them: numbers of the shown surface, in the order of the file.
function exported(run5, frame) {
  run('export', run5, '-o', `frames_${frame}`, '--format', 'obj', '--frames', `${frame}:${frame}:1`, '-q');
  const name = execFileSync('ls', [join(directory, `frames_${frame}`)], { encoding: 'utf8' }).split('\n').find((n) => n.endsWith('.obj'));
  const lines = readFileSync(join(directory, `frames_${frame}`, name), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('v ')).map((line) => line.slice(2).split(' ').map(Number));
}

run('run', join(source, 'scenes/beam.json'), '-o', 'beam.h5', '--steps', '60', '-q');
run('view', 'beam.h5', '-o', 'beam.html', '--interior', '--no-open', '-q');
run('run', join(source, 'scenes/stack.json'), '-o', 'stack.h5', '--steps', '20', '-q');
run('view', 'stack.h5', 'stack.h5', '-o', 'stack.html', '--no-open', '-q');
run('run', join(source, 'scenes/cloth.json'), '-o', 'cloth.h5', '--steps', '1', '-q');
run('view', 'cloth.h5', '-o', 'cloth.html', '--no-open', '-q');

const address = `file://${join(directory, 'beam.html')}`;
const page = await open(address);

await check('the page loads without an error and plays', async () => {
  assert.deepEqual(page.problems, []);
  assert.equal(await page.title(), 'beam');
  const first = await page.evaluate(() => viewer.app.shownFrames);
  await page.waitForFunction((n) => viewer.app.shownFrames > n + 3 && viewer.app.frame > 0, first, { timeout: 20000 });
});

await check('scrubbing shows the frame that the trajectory has', async () => {
  for (const frame of [0, 17, 60]) {
    await page.locator('input[aria-label="Frame"]').evaluate((input, value) => {
      input.value = value;
      input.dispatchEvent(new Event('input'));
    }, frame);
    const shown = await page.evaluate(() => {
      const { app } = viewer;
      const surface = [...new Set(app.run.triangle)].sort((a, b) => a - b);
      return { frame: app.frame, grid: app.run.grid, points: surface.map((i) => Array.from(app.views[0].points.subarray(3 * i, 3 * i + 3))) };
    });
    assert.equal(shown.frame, frame);
    const truth = exported('beam.h5', frame);
    assert.equal(shown.points.length, truth.length);
    truth.forEach((x, i) => x.forEach((value, a) => assert.ok(Math.abs(value - shown.points[i][a]) <= 0.51 * shown.grid[a] + 1e-7, `node ${i}`)));
  }
});

await check('a click picks the node under it, and plots it', async () => {
  const at = await page.evaluate(() => {
    const { app } = viewer;
    app.play(false);
    app.seek(30);
    // a node that faces the viewer
    const camera = app.stage.camera.position;
    let best = null;
    for (const i of new Set(app.run.triangle)) {
      const p = app.views[0].points.subarray(3 * i, 3 * i + 3);
      const away = Math.hypot(p[0] - camera.x, p[1] - camera.y, p[2] - camera.z);
      if (!best || away < best.away) best = { i, away, p: Array.from(p) };
    }
    const spot = app.stage.camera.position.clone().set(...best.p).project(app.stage.camera);
    const box = app.canvas.getBoundingClientRect();
    return { node: best.i, x: box.left + ((spot.x + 1) / 2) * box.width, y: box.top + ((1 - spot.y) / 2) * box.height };
  });
  // slightly inside of the silhouette
  const hit = await page.evaluate(({ x, y }) => {
    for (const [dx, dy] of [[0, 0], [3, 0], [-3, 0], [0, 3], [0, -3], [4, 4], [-4, -4], [4, -4], [-4, 4]]) {
      const found = viewer.app.find(x + dx, y + dy);
      if (found) return { node: found.node, x: x + dx, y: y + dy };
    }
    return null;
  }, at);
  assert.equal(hit?.node, at.node);
  await page.mouse.click(hit.x, hit.y);
  await page.waitForFunction(() => viewer.app.picks.length === 1);
  const facts = await page.locator('.facts').innerText();
  assert.match(facts, /stress/);
  const series = await page.evaluate(() => { const s = viewer.app.series(viewer.app.picks[0], 'y'); return { n: s.y.length, last: s.y[30], now: viewer.app.views[0].points[3 * viewer.app.picks[0].node + 1] }; });
  assert.equal(series.n, 61);
  assert.ok(Math.abs(series.last - series.now) < 1e-5);
});

await check('colours, the cut and curves follow', async () => {
  const state = await page.evaluate(() => {
    const { app } = viewer;
    app.set('color', 'stress');
    app.set('cut', true);
    const section = app.views[0].section.geometry.drawRange.count;
    app.set('cut', false);
    return { section, curves: app.run.header.curves.map((c) => c.group), missing: app.run.header.missing, range: app.views[0].range };
  });
  assert.ok(state.section > 0);
  assert.ok(state.range[1] > 0);
  assert.deepEqual(state.missing, []);
  assert.ok(state.curves.includes('energy') && state.curves.includes('momentum'));
  const visible = await page.locator('.side').isVisible();
  await page.keyboard.press('v');
  assert.equal(await page.locator('.side').isVisible(), !visible);
});

await check('a link holds camera, time and colour', async () => {
  const hash = await page.evaluate(() => {
    viewer.app.seek(42);
    viewer.app.stage.camera.position.x += 0.3;
    return viewer.app.linkText();
  });
  const other = await open(address + hash);
  const [a, b] = await Promise.all([page, other].map((p) => p.evaluate(() => ({ frame: viewer.app.frame, eye: viewer.app.stage.camera.position.toArray(), color: viewer.app.options.color }))));
  assert.equal(a.frame, b.frame);
  assert.equal(b.color, 'stress');
  a.eye.forEach((value, k) => assert.ok(Math.abs(value - b.eye[k]) < 1e-3 * Math.hypot(...a.eye)));
  await other.close();
});

// Share of picture points where the body is in one and not in the other.
async function silhouette(file, predicate) {
  return page.evaluate(async ([bytes, test]) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(160, 100);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0, 160, 100);
    const { data } = context.getImageData(0, 0, 160, 100);
    const out = [];
    for (let i = 0; i < data.length; i += 4) out.push(new Function('r', 'g', 'b', `return ${test}`)(data[i], data[i + 1], data[i + 2]));
    return out;
  }, [readFileSync(file).toString('base64'), predicate]);
}

await check('a screenshot shows what the software renderer draws', async () => {
  const image = await page.evaluate(() => {
    const { app } = viewer;
    app.clearPicks();
    app.set('color', 'body');
    app.set('ground', false);
    app.seek(30);
    app.stage.camera.position.set(0.25, 0, 2.2);
    app.stage.camera.fov = 30;
    app.stage.camera.updateProjectionMatrix();
    app.stage.controls.target.set(0.25, 0, 0);
    app.stage.controls.update();
    app.stage.changed();
    app.stage.draw();
    return app.canvas.toDataURL('image/png').split(',')[1]; // what was drawn is there until the browser shows it
  });
  writeFileSync(join(directory, 'viewer.png'), Buffer.from(image, 'base64'));
  run('render', 'beam.h5', '--png', '30', '-o', 'render.png', '--size', '800x500', '--eye', '0.25,0,2.2', '--target', '0.25,0,0', '--fov', '30', '--no-grid', '--no-label', '--samples', '1', '-q');
  const body = 'Math.max(r, g, b) - Math.min(r, g, b) > 45';
  const [ours, theirs] = [await silhouette(join(directory, 'viewer.png'), body), await silhouette(join(directory, 'render.png'), body)];
  const area = theirs.filter(Boolean).length;
  const differ = ours.filter((value, i) => value !== theirs[i]).length;
  assert.ok(area > 300, `the body covers ${area} points`);
  assert.ok(differ < 0.12 * area, `${differ} of ${area} points differ`);
});

await check('triangles that face away are left out of a moving scene, and nothing looks different', async () => {
  const { all, facing, same } = await page.evaluate(() => {
    const { app } = viewer;
    const { quick } = app.views[0].surfaces[0];
    const look = () => {
      app.stage.changed();
      app.stage.draw();
      return { triangles: quick.shape.geometry.drawRange.count / 3, picture: app.canvas.toDataURL('image/png') };
    };
    const culled = look();
    quick.face = function face() {
      this.shape.geometry.index.array.set(this.shape.every);
      this.shape.geometry.index.clearUpdateRanges();
      this.shape.geometry.index.needsUpdate = true;
      this.shape.geometry.setDrawRange(0, this.shape.every.length);
    };
    const whole = look();
    delete quick.face;
    return { all: whole.triangles, facing: culled.triangles, same: whole.picture === culled.picture };
  });
  assert.ok(facing > 0.2 * all && facing < 0.7 * all, `${facing} of ${all}`);
  assert.ok(same);
});

await check('a sheet does not lie in its own shadow, on either side', async () => {
  const other = await open(`file://${join(directory, 'cloth.html')}`);
  const tones = await other.evaluate(() => {
    const { app } = viewer;
    const { stage, canvas } = app;
    app.play(false);
    app.seek(0);
    const points = app.views[0].points;
    const middle = [0, 1, 2].map((a) => { let sum = 0; for (let i = a; i < points.length; i += 3) sum += points[i]; return sum / (points.length / 3); });
    const copy = new OffscreenCanvas(1, 1).getContext('2d');
    const tone = (now) => {
      if (now === undefined) stage.changed();
      stage.draw(now);
      copy.drawImage(canvas, canvas.width / 2, canvas.height / 2, 1, 1, 0, 0, 1, 1);
      return copy.getImageData(0, 0, 1, 1).data[2];
    };
    stage.controls.target.set(...middle);
    return [false, true].map((turned) => {
      if (turned) { // the same sheet, its triangles the other way round
        const { surfaces } = app.views[0];
        for (const surface of surfaces) {
          for (const list of [surface.vertex, surface.quick.shape.every]) {
            for (let c = 0; c < list.length; c += 3) [list[c], list[c + 1]] = [list[c + 1], list[c]];
          }
          surface.quick.geometry.index.needsUpdate = true;
          surface.move(points);
        }
      }
      stage.camera.position.set(...middle).addScaledVector(stage.axis, 2).addScaledVector(stage.direction(0.1, 0, 1), 0.5);
      stage.controls.update();
      return { moving: tone(), resting: tone(Infinity) };
    });
  });
  for (const { moving, resting } of tones) assert.ok(moving > 100 && Math.abs(moving - resting) < 25, JSON.stringify(tones));
  assert.deepEqual(other.problems, []);
  await other.close();
});

await check('a movie holds the whole motion', async () => {
  const movie = await page.evaluate(async () => {
    const { app } = viewer;
    const blob = await app.record();
    const bytes = new Uint8Array(await blob.slice(0, 64).arrayBuffer());
    return { size: blob.size, type: blob.type, head: Array.from(bytes.subarray(0, 4)), last: app.frame, frames: app.run.nframe };
  });
  assert.ok(movie.size > 2000 && movie.type === 'video/webm');
  assert.deepEqual(movie.head, [0x1a, 0x45, 0xdf, 0xa3]); // EBML
  assert.equal(movie.last, movie.frames - 1);
});

await check('two runs stand side by side, with contact forces, on a phone', async () => {
  const phone = await open(`file://${join(directory, 'stack.html')}`, { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true });
  const state = await phone.evaluate(() => {
    const { app } = viewer;
    app.play(false);
    app.set('contacts', true);
    app.seek(20);
    const beside = app.views[1].group.position.length();
    app.set('compare', 'ghost');
    return { beside, ghost: app.views[1].group.position.length(), arrows: app.views[0].parts.contacts.rods.count, width: document.documentElement.scrollWidth };
  });
  assert.ok(state.beside > 0 && state.ghost === 0);
  assert.ok(state.arrows > 0);
  assert.ok(state.width <= 390);
  assert.deepEqual(phone.problems, []);
  await phone.close();
});

await check('every control has a name', async () => {
  const bare = await page.evaluate(() => [...document.querySelectorAll('button, input, select')]
    .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')?.textContent.trim())).map((e) => e.outerHTML));
  assert.deepEqual(bare, []);
  assert.deepEqual(page.problems, []);
});

await browser.close();
end();
