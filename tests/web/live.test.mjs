// A scene that is simulated while a browser shows it: node live.test.mjs MODULES CUTTLE SOURCE DIRECTORY [CHROMIUM]
//
// Does a drag move the node, does a file that is changed come back, is a wrong one explained, are strangers refused,
// and does garbage from a client change nothing?
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { check, cuttle, directory, end, launch } from './harness.mjs';

const path = join(directory, 'live.json');
const scene = (young = 1e5, extra = {}) => JSON.stringify({
  name: 'live', time_step: 0.01, gravity: [0, 0, 0],
  bodies: [{ name: 'beam', box: { size: [0.5, 0.1, 0.1], cells: [20, 4, 4] }, material: { young, poisson: 0.4, density: 1000, damping: { mass: 2 } } }],
  pins: [{ select: { box: [[-1, -1, -1], [0.001, 1, 1]] } }], ...extra,
});

writeFileSync(path, scene());
const program = spawn(cuttle, ['view', path, '--no-open', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
const address = await new Promise((resolve, reject) => {
  let text = '';
  program.stdout.on('data', (piece) => {
    text += piece;
    if (text.includes('\n')) resolve(JSON.parse(text).address);
  });
  program.on('exit', (code) => reject(new Error(`cuttle view ended with ${code}`)));
});
const url = new URL(address);
const token = url.pathname.split('/')[1];

// The status line that the server answers a handshake with.
function handshake(target, headers) {
  return new Promise((resolve) => {
    const socket = net.connect(Number(url.port), '127.0.0.1');
    let answer = '';
    socket.on('data', (piece) => { answer += piece.toString('latin1'); });
    socket.on('close', () => resolve(answer.split('\r\n')[0]));
    socket.on('error', () => resolve(''));
    const all = { Host: url.host, Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Key': randomBytes(16).toString('base64'), 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Protocol': 'cuttle', ...headers };
    socket.write(`GET ${target} HTTP/1.1\r\n${Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    setTimeout(() => socket.destroy(), 400);
  });
}

const status = (target, headers = {}) => new Promise((resolve) => {
  http.get({ host: '127.0.0.1', port: url.port, path: target, headers }, (response) => {
    response.resume();
    resolve(response.statusCode);
  }).on('error', () => resolve(0)); // closed without an answer
});

await check('strangers are refused: other addresses, hosts and origins', async () => {
  assert.equal(await status(`/${token}/`), 200);
  assert.notEqual(await status('/'), 200);
  assert.notEqual(await status(`/${token.replace(/^./, (c) => (c === '0' ? '1' : '0'))}/`), 200);
  assert.notEqual(await status(`/${token}/`, { Host: 'evil.example' }), 200);
  const good = { Origin: url.origin };
  assert.match(await handshake(`/${token}/ws`, good), /101/);
  assert.doesNotMatch(await handshake(`/${token}/ws`, { Origin: 'http://evil.example' }), /101/);
  assert.doesNotMatch(await handshake(`/${token}/ws`, {}), /101/);
  assert.doesNotMatch(await handshake(`/${'0'.repeat(32)}/ws`, good), /101/);
  assert.doesNotMatch(await handshake(`/${token}/ws`, { ...good, Host: 'evil.example' }), /101/);
  // it listens nowhere else
  const outside = await new Promise((resolve) => {
    const socket = net.connect(Number(url.port), '127.0.0.2');
    socket.on('connect', () => { socket.destroy(); resolve(true); });
    socket.on('error', () => resolve(false));
  });
  assert.equal(outside, false);
});

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 800, height: 500 } });
page.problems = [];
page.on('pageerror', (error) => page.problems.push(error.message));
page.on('console', (message) => message.type() === 'error' && page.problems.push(message.text()));
await page.goto(address);
await page.waitForFunction(() => window.cuttle);
await page.evaluate(async () => { window.viewer = await window.cuttle; });
const frames = (n) => page.waitForFunction((more) => viewer.live.received > more, n, { timeout: 30000 });

await check('frames arrive while it is simulated', async () => {
  await frames(10);
  const time = await page.evaluate(() => viewer.live.app.run.time.at(-1));
  assert.ok(time > 0);
  assert.deepEqual(page.problems, []);
});

await check('a drag moves the node, and it comes back', async () => {
  const spot = await page.evaluate(() => {
    const { app } = viewer.live;
    // the shown node farthest from the pins that the viewer sees
    let best = null;
    const box = app.canvas.getBoundingClientRect();
    for (const i of new Set(app.run.triangle)) {
      const p = app.views[0].points.subarray(3 * i, 3 * i + 3);
      if (p[0] < 0.35) continue;
      const at = app.stage.camera.position.clone().set(...p).project(app.stage.camera);
      const x = box.left + ((at.x + 1) / 2) * box.width;
      const y = box.top + ((1 - at.y) / 2) * box.height;
      const hit = app.find(x, y);
      if (hit && document.elementFromPoint(x, y) === app.canvas && (!best || p[0] > best.p0)) best = { node: hit.node, x, y, p0: p[0] };
    }
    return best;
  });
  const place = () => page.evaluate((node) => viewer.live.app.run.point(node, viewer.live.app.run.nframe - 1), spot.node);
  const before = await place();
  await page.mouse.move(spot.x, spot.y);
  await page.mouse.down();
  await page.mouse.move(spot.x, spot.y - 70, { steps: 5 });
  await page.waitForFunction(([node, y]) => viewer.live.app.run.point(node, viewer.live.app.run.nframe - 1)[1] > y + 0.01, [spot.node, before[1]], { timeout: 20000 });
  await page.mouse.up();
  await page.waitForFunction(([node, y]) => Math.abs(viewer.live.app.run.point(node, viewer.live.app.run.nframe - 1)[1] - y) < 0.01, [spot.node, before[1]], { timeout: 30000 });
});

await check('gravity, pause, step and reset do what they say', async () => {
  await page.evaluate(() => viewer.live.send({ do: 'set', index: 1, value: -9.81 }));
  await page.waitForFunction(() => viewer.live.app.run.header && viewer.live.app.run.row('x', viewer.live.app.run.nframe - 1).some((x) => x < -0.06), null, { timeout: 20000 });
  await page.evaluate(() => viewer.live.send({ do: 'pause', on: true }));
  await page.waitForFunction(() => viewer.live.state.paused);
  await page.waitForTimeout(300);
  const step = await page.evaluate(() => viewer.live.app.run.step.at(-1));
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => viewer.live.app.run.step.at(-1)), step);
  await page.evaluate(() => viewer.live.send({ do: 'step' }));
  await page.waitForFunction((s) => viewer.live.app.run.step.at(-1) === s + 1, step);
  await page.evaluate(() => viewer.live.send({ do: 'reset' }));
  await page.waitForFunction(() => viewer.live.app.run.step.at(-1) === 0);
  await page.evaluate(() => { viewer.live.send({ do: 'set', index: 1, value: 0 }); viewer.live.send({ do: 'pause', on: false }); });
});

await check('garbage from the writer and from others changes nothing and ends nothing', async () => {
  await page.evaluate(async () => {
    const bad = ['', '{', 'null', '[]', '{"do": 3}', '{"do": "explode"}', '{"do": "drag"}', '{"do": "drag", "node": -1, "to": [0,0,0]}', '{"do": "drag", "node": 1e99, "to": [0,0,0]}',
      '{"do": "drag", "node": 99999999, "to": [0,0,0]}', '{"do": "drag", "node": 3, "to": [1e999, 0, 0]}', '{"do": "drag", "node": 3, "to": [1, 0]}', '{"do": "set", "index": 99, "value": 1}',
      '{"do": "set", "index": 1, "value": "x"}', '{"do": "set", "index": 4000000000, "value": 1}', '['.repeat(4000), '\u0000\u0001'];
    for (const text of bad) viewer.live.socket.send(text);
    let seed = 1;
    for (let k = 0; k < 300; k++) {
      const bytes = Array.from({ length: 1 + (k % 80) }, () => { seed = (seed * 1103515245 + 12345) % 2147483648; return 32 + (seed % 95); });
      viewer.live.socket.send(String.fromCharCode(...bytes));
    }
  });
  // another client, which reads nothing, says too much, and sends what is no frame
  for (const bytes of [Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4]), randomBytes(5000), Buffer.concat([Buffer.from([0x81, 0xfe, 0x20, 0x00, 0, 0, 0, 0]), Buffer.alloc(8192, 0x61)]), Buffer.from([0x82, 0x81, 0, 0, 0, 0, 1])]) {
    await new Promise((resolve) => {
      const socket = net.connect(Number(url.port), '127.0.0.1', () => {
        socket.write(`GET /${token}/ws HTTP/1.1\r\nHost: ${url.host}\r\nOrigin: ${url.origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: cuttle\r\n\r\n`);
        setTimeout(() => socket.write(bytes), 100);
        setTimeout(() => { socket.destroy(); resolve(); }, 400);
      });
      socket.on('error', () => {});
      socket.pause();
    });
  }
  assert.equal(program.exitCode, null);
  const n = await page.evaluate(() => viewer.live.received);
  await frames(n + 5);
  const tip = await page.evaluate(() => Math.max(...viewer.live.app.run.row('x', viewer.live.app.run.nframe - 1).map(Math.abs)));
  assert.ok(tip < 0.6);
  assert.deepEqual(page.problems, []);
});

await check('a client that reads nothing does not slow the others', async () => {
  const rate = async () => {
    const n = await page.evaluate(() => viewer.live.app.run.step.at(-1));
    const begun = Date.now();
    await page.waitForTimeout(1500);
    return (await page.evaluate(() => viewer.live.app.run.step.at(-1)) - n) / (Date.now() - begun);
  };
  const alone = await rate();
  const stalled = [0, 1, 2].map(() => {
    const socket = net.connect(Number(url.port), '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write(`GET /${token}/ws HTTP/1.1\r\nHost: ${url.host}\r\nOrigin: ${url.origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: cuttle\r\n\r\n`);
    return socket;
  });
  const crowded = await rate();
  stalled.forEach((socket) => socket.destroy());
  assert.ok(crowded > 0.5 * alone, `${crowded} steps per ms, ${alone} alone`);
});

await check('a second window may look and not touch', async () => {
  const other = await browser.newPage({ viewport: { width: 400, height: 300 } });
  await other.goto(address);
  await other.waitForFunction(() => window.cuttle);
  await other.evaluate(async () => { window.viewer = await window.cuttle; });
  await other.waitForFunction(() => viewer.live.received > 2, null, { timeout: 30000 });
  assert.equal(await other.evaluate(() => viewer.live.writer), false);
  await other.evaluate(() => viewer.live.send({ do: 'pause', on: true }));
  await other.waitForTimeout(400);
  assert.equal(await page.evaluate(() => viewer.live.state.paused), false);
  await other.close();
});

await check('the file is read again, and its mistakes are shown', async () => {
  writeFileSync(path, scene(1e5, { gravitty: [0, 0, 0] }));
  await page.waitForFunction(() => /gravitty/.test(document.querySelector('.error:not([hidden])')?.textContent || ''), null, { timeout: 20000 });
  const n = await page.evaluate(() => viewer.live.received);
  await frames(n + 3);
  writeFileSync(path, scene(1e6, { name: 'again' }));
  await page.waitForFunction(() => viewer.live.app.run.header.title === 'again' && document.querySelector('.error').hidden, null, { timeout: 20000 });
  assert.deepEqual(page.problems, []);
});

await browser.close();
program.removeAllListeners('exit');
program.kill('SIGINT');
const code = await new Promise((resolve) => { program.on('exit', resolve); });
await check('Ctrl-C ends it', async () => assert.equal(code, 0));
end();
