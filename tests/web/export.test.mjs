// Exported glTF files as three.js reads them: node export.test.mjs MODULES CUTTLE SOURCE DIRECTORY
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { check, cuttle, directory, end, source } from './harness.mjs';

globalThis.self = globalThis; // what the loader asks for
const three = join(dirname(dirname(resolve(cuttle))), 'web/node_modules/three');
const THREE = await import(join(three, 'build/three.module.js'));
const { GLTFLoader } = await import(join(three, 'examples/jsm/loaders/GLTFLoader.js'));
const run = (...args) => execFileSync(cuttle, args, { encoding: 'utf8', cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });

async function read(name) {
  const bytes = readFileSync(join(directory, name));
  return new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), '');
}

function exported(file, frame) {
  run('export', file, '-o', `obj_${frame}`, '--format', 'obj', '--frames', `${frame}:${frame}:1`, '-q');
  const [name] = readdirSync(join(directory, `obj_${frame}`));
  const lines = readFileSync(join(directory, `obj_${frame}`, name), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('v ')).map((line) => line.slice(2).split(' ').map(Number));
}

run('run', join(source, 'scenes/beam.json'), '-o', 'still.h5', '--steps', '12', '-q');
run('export', 'still.h5', '-o', 'beam.glb', '-q');

await check('three.js plays the motion that the trajectory has', async () => {
  const { scene, animations } = await read('beam.glb');
  assert.equal(animations.length, 1);
  const mixer = new THREE.AnimationMixer(scene);
  mixer.clipAction(animations[0]).play();
  const meshes = [];
  scene.traverse((part) => part.isMesh && part.morphTargetInfluences && meshes.push(part));
  assert.equal(meshes.length, 1);
  const [mesh] = meshes;
  assert.equal(mesh.morphTargetInfluences.length, 12);
  const { times } = animations[0].tracks[0];
  const at = new THREE.Vector3();
  const turned = mesh.getWorldQuaternion(new THREE.Quaternion()).angleTo(new THREE.Quaternion());
  assert.ok(turned < 1e-6, 'y is up in this scene');
  for (const frame of [0, 5, 11]) {
    mixer.setTime(times[frame]);
    const wanted = exported('still.h5', frame);
    for (let i = 0; i < mesh.geometry.attributes.position.count; i++) {
      mesh.getVertexPosition(i, at);
      const away = Math.min(...wanted.map(([x, y, z]) => Math.hypot(x - at.x, y - at.y, z - at.z)));
      assert.ok(away < 1e-5, `frame ${frame}, vertex ${i} is ${away} m away`);
    }
  }
  mixer.setTime(0.5 * (times[5] + times[6]));
  const influence = mesh.morphTargetInfluences;
  assert.ok(Math.abs(influence[4] - 0.5) < 1e-3 && Math.abs(influence[5] - 0.5) < 1e-3, 'frames blend');
});

await check('a scene with z up stands in it', async () => {
  run('run', join(source, 'scenes/tentacle.json'), '-o', 'tentacle.h5', '--steps', '2', '-q');
  run('export', 'tentacle.h5', '-o', 'tentacle.glb', '-q');
  const { scene } = await read('tentacle.glb');
  const up = new THREE.Vector3(0, 0, 1).applyQuaternion(scene.children[0].getWorldQuaternion(new THREE.Quaternion()));
  assert.ok(up.distanceTo(new THREE.Vector3(0, 1, 0)) < 1e-6);
});

await check('bones and obstacles are meshes of their own', async () => {
  run('run', join(source, 'scenes/humanoid_fall.json'), '-o', 'fall.h5', '--steps', '2', '-q');
  run('export', 'fall.h5', '-o', 'fall.glb', '-q');
  const names = [];
  (await read('fall.glb')).scene.traverse((part) => part.isMesh && names.push(part.name));
  for (const name of ['bones', 'joints', 'ground']) assert.ok(names.includes(name), names.join(' '));
});

end();
