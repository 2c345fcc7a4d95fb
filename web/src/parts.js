// What is drawn besides surfaces: bones, muscles, cables, obstacles, contact forces. Each is a few instanced solids.
import * as THREE from 'three';
import { colorAt } from './colors.js';

const up = new THREE.Vector3(0, 1, 0);
const turn = new THREE.Quaternion();
const along = new THREE.Vector3();

// A solid along y from 0 to 1 with radius 1, from a to b.
function between(matrix, a, b, radius) {
  along.subVectors(b, a);
  const length = along.length();
  turn.setFromUnitVectors(up, length > 0 ? along.divideScalar(length) : up);
  return matrix.compose(a, turn, new THREE.Vector3(radius, Math.max(length, 1e-9), radius));
}

function at(matrix, place, radius) {
  return matrix.compose(place, turn.identity(), new THREE.Vector3(radius, radius, radius));
}

const profile = (points) => new THREE.LatheGeometry(points.map(([r, y]) => new THREE.Vector2(r, y)), 20);
const shaft = () => profile([[0, 0], [0.95, 0.012], [1.25, 0.05], [1.2, 0.1], [0.82, 0.24], [0.72, 0.5], [0.82, 0.76], [1.2, 0.9], [1.25, 0.95], [0.95, 0.988], [0, 1]]);
const spindle = () => profile([[0, 0], [0.25, 0.03], [0.55, 0.14], [0.88, 0.32], [1, 0.5], [0.88, 0.68], [0.55, 0.86], [0.25, 0.97], [0, 1]]);
const rod = () => new THREE.CylinderGeometry(1, 1, 1, 20).translate(0, 0.5, 0);
const cone = () => new THREE.ConeGeometry(1, 1, 20).translate(0, 0.5, 0);
const ball = (detail = 24) => new THREE.SphereGeometry(1, detail, Math.round(0.7 * detail));

// Solids of one shape; their number may change.
class Solids {
  constructor(geometry, material, shadow = true) {
    this.geometry = geometry;
    this.material = material;
    this.shadow = shadow;
    this.group = new THREE.Group();
    this.count = 0;
  }

  reserve(count) {
    if (this.mesh && count <= this.mesh.instanceMatrix.count) return;
    if (this.mesh) this.group.remove(this.mesh), this.mesh.dispose();
    this.mesh = new THREE.InstancedMesh(this.geometry, this.material, Math.max(8, Math.ceil(1.5 * count)));
    this.mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    this.mesh.castShadow = this.mesh.receiveShadow = this.shadow;
    this.mesh.frustumCulled = false;
    this.group.add(this.mesh);
  }

  begin(count) {
    this.reserve(count);
    this.count = 0;
  }

  add(matrix, color) {
    this.mesh.setMatrixAt(this.count, matrix);
    if (color) this.mesh.setColorAt(this.count, color);
    this.count++;
  }

  end() {
    this.mesh.count = this.count;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }
}

const matrix = new THREE.Matrix4();
const vector = (list, i) => new THREE.Vector3(list[i], list[i + 1], list[i + 2]);

export class Bones {
  constructor(run) {
    this.run = run;
    const material = new THREE.MeshStandardMaterial({ color: '#efe6d2', roughness: 0.5 });
    this.shafts = new Solids(shaft(), material);
    this.lumps = new Solids(ball(), material);
    this.joints = new Solids(ball(), new THREE.MeshStandardMaterial({ color: '#7d93ab', roughness: 0.4 }));
    this.group = new THREE.Group();
    this.group.add(this.shafts.group, this.lumps.group, this.joints.group);
    this.pose = new THREE.Matrix4();
  }

  setPose(poses, link) {
    const p = poses.subarray(12 * link, 12 * link + 12);
    this.pose.set(p[0], p[1], p[2], p[9], p[3], p[4], p[5], p[10], p[6], p[7], p[8], p[11], 0, 0, 0, 1);
  }

  show(frame) {
    const { run } = this;
    const poses = run.row('poses', frame);
    const count = run.boneLink.length;
    this.shafts.begin(count);
    this.lumps.begin(count);
    for (let i = 0; i < count; i++) {
      this.setPose(poses, run.boneLink[i]);
      const a = vector(run.boneShape, 7 * i).applyMatrix4(this.pose);
      const b = vector(run.boneShape, 7 * i + 3).applyMatrix4(this.pose);
      const radius = run.boneShape[7 * i + 6];
      if (a.distanceTo(b) < 0.2 * radius) this.lumps.add(at(matrix, a, 1.6 * radius));
      else this.shafts.add(between(matrix, a, b, radius));
    }
    const radius = run.header.joint_radius;
    const links = radius > 0 ? run.header.links : [];
    this.joints.begin(links.length);
    links.forEach((link, k) => {
      if (link.joint === 'fixed' || (link.joint === 'free' && link.parent < 0)) return;
      this.setPose(poses, k);
      this.joints.add(at(matrix, vector(run.jointPlace, 3 * k).applyMatrix4(this.pose), 1.45 * radius));
    });
    for (const solids of [this.shafts, this.lumps, this.joints]) solids.end();
  }
}

const activationColor = (a) => new THREE.Color().setRGB(0.36 + 0.6 * a, 0.12 + 0.12 * a * a, 0.14 * (1 - a) + 0.05, THREE.SRGBColorSpace);

const [RINGS, SIDES] = [28, 12];

// A spindle along a curve through points.
class Belly {
  constructor() {
    const geometry = new THREE.BufferGeometry();
    const index = [];
    for (let r = 0; r < RINGS; r++) {
      for (let s = 0; s < SIDES; s++) {
        const a = r * SIDES + s;
        const b = r * SIDES + ((s + 1) % SIDES);
        index.push(a, b, a + SIDES, b, b + SIDES, a + SIDES);
      }
    }
    for (const name of ['position', 'normal']) {
      geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * (RINGS + 1) * SIDES), 3).setUsage(THREE.DynamicDrawUsage));
    }
    geometry.setIndex(index);
    this.mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ roughness: 0.45 }));
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
  }

  set(points, radius, color) {
    const { position, normal } = this.mesh.geometry.attributes;
    const curve = new THREE.CatmullRomCurve3(points);
    const side = new THREE.Vector3(0.123, 0.987, 0.456);
    for (let r = 0, k = 0; r <= RINGS; r++) {
      const u = r / RINGS;
      const middle = curve.getPoint(u);
      const way = curve.getTangent(u);
      side.addScaledVector(way, -side.dot(way)).normalize();
      const other = along.crossVectors(way, side);
      const wide = radius * (4 * u * (1 - u)) ** 0.7;
      for (let s = 0; s < SIDES; s++, k += 3) {
        const angle = (2 * Math.PI * s) / SIDES;
        for (const [a, axis] of ['x', 'y', 'z'].entries()) {
          const n = Math.cos(angle) * side[axis] + Math.sin(angle) * other[axis];
          normal.array[k + a] = n;
          position.array[k + a] = middle[axis] + wide * n;
        }
      }
    }
    position.needsUpdate = normal.needsUpdate = true;
    this.mesh.material.color.copy(color);
  }
}

export class Muscles {
  constructor(run) {
    this.run = run;
    this.solids = new Solids(spindle(), new THREE.MeshStandardMaterial({ color: '#ffffff', roughness: 0.45 }));
    this.group = new THREE.Group().add(this.solids.group);
    this.chains = []; // numbers of the pieces of a segment that is shown as a curve
    run.header.segments.forEach(({ chain }, k) => {
      if (chain >= 0) (this.chains[chain] ||= []).push(k);
    });
    this.bellies = this.chains.map(() => new Belly());
    for (const belly of this.bellies) this.group.add(belly.mesh);
  }

  // Through the ends of the first and last piece, and the middles of all.
  showChains(ends, activations) {
    const { segments } = this.run.header;
    this.chains.forEach((pieces, c) => {
      const points = pieces.map((k) => vector(ends, 6 * k).add(vector(ends, 6 * k + 3)).multiplyScalar(0.5));
      points.unshift(vector(ends, 6 * pieces[0]));
      points.push(vector(ends, 6 * pieces[pieces.length - 1] + 3));
      const activation = Math.min(1, Math.max(0, Math.abs(activations[pieces[0]])));
      this.bellies[c].set(points, 0.8 * segments[pieces[0]].radius, activationColor(activation));
    });
  }

  show(frame) {
    const { segments } = this.run.header;
    const ends = this.run.ends(frame);
    const activations = this.run.row('activation', frame);
    this.solids.begin(segments.length);
    this.showChains(ends, activations);
    segments.forEach((segment, k) => {
      if (segment.chain >= 0) return;
      const activation = Math.min(1, Math.max(0, Math.abs(activations[k])));
      this.solids.add(between(matrix, vector(ends, 6 * k), vector(ends, 6 * k + 3), 0.8 * segment.radius), activationColor(activation));
    });
    this.solids.end();
  }
}

export class Cables {
  constructor(run) {
    this.run = run;
    const material = new THREE.MeshStandardMaterial({ roughness: 0.35, metalness: 0.3 });
    this.rods = new Solids(rod(), material);
    this.beads = new Solids(ball(16), material);
    this.group = new THREE.Group();
    this.group.add(this.rods.group, this.beads.group);
    this.most = 1e-12;
  }

  show(frame) {
    const rows = this.run.row('cables', frame);
    const { cables } = this.run.header;
    const count = rows.length / 4;
    const radius = 0.004 * this.run.size;
    for (let i = 0; i < count; i++) this.most = Math.max(this.most, rows[4 * i + 3]);
    this.rods.begin(count);
    this.beads.begin(count);
    for (const cable of cables) {
      const pull = rows[4 * cable.first + 3] / this.most;
      const color = new THREE.Color().setRGB(0.25 + 0.65 * pull, 0.42 - 0.1 * pull, 0.5 - 0.4 * pull, THREE.SRGBColorSpace);
      for (let i = cable.first; i < cable.first + cable.count; i++) {
        const here = vector(rows, 4 * i);
        this.beads.add(at(matrix, here, 1.9 * radius), color);
        if (i + 1 < cable.first + cable.count) this.rods.add(between(matrix, here, vector(rows, 4 * i + 4), radius), color);
      }
    }
    this.rods.end();
    this.beads.end();
  }
}

// A disc of radius 1 that fades out.
function fadingDisc() {
  const disc = new THREE.RingGeometry(0, 1, 64, 10);
  const { position } = disc.attributes;
  const color = new Float32Array(4 * position.count).fill(1);
  for (let i = 0; i < position.count; i++) color[4 * i + 3] = 1 - THREE.MathUtils.smoothstep(Math.hypot(position.getX(i), position.getY(i)), 0.5, 1);
  return disc.setAttribute('color', new THREE.BufferAttribute(color, 4));
}

function checkers() {
  const texture = new THREE.DataTexture(Uint8Array.from([255, 222, 222, 255].flatMap((tone) => [tone, tone, tone, 255])), 2, 2);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.repeat.setScalar(12);
  texture.generateMipmaps = true;
  texture.minFilter = THREE.LinearMipmapLinearFilter;
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.needsUpdate = true;
  return texture;
}

export class Obstacles {
  constructor(run, stage) {
    this.run = run;
    this.stage = stage;
    this.group = new THREE.Group();
    this.items = run.header.obstacles.map((obstacle, k) => this.make(obstacle, k)).filter(Boolean);
  }

  make(obstacle, k) {
    if (obstacle.hidden || obstacle.kind === 'box' || obstacle.kind === 'mesh') return null;
    const material = new THREE.MeshStandardMaterial({ color: new THREE.Color().setRGB(...obstacle.color, THREE.SRGBColorSpace), roughness: 0.7 });
    if (obstacle.kind === 'plane') Object.assign(material, { map: checkers(), vertexColors: true, transparent: true });
    const item = { obstacle, k, meshes: [] };
    const shapes = { plane: () => [fadingDisc()], sphere: () => [ball(40)], capsule: () => [ball(32), ball(32), rod()] };
    for (const geometry of shapes[obstacle.kind]()) {
      const mesh = new THREE.Mesh(geometry, material);
      mesh.castShadow = obstacle.kind !== 'plane';
      mesh.receiveShadow = true;
      mesh.matrixAutoUpdate = false;
      item.meshes.push(mesh);
      this.group.add(mesh);
    }
    return item;
  }

  // A plane that is the ground is drawn as such.
  placePlane(item, pose) {
    const normal = vector(pose, 3).normalize();
    const point = vector(pose, 0);
    const [mesh] = item.meshes;
    const level = normal.dot(this.stage.axis) > 1 - 1e-6 && Math.abs(point.dot(this.stage.axis) - this.stage.height0) < 1e-3 * this.run.size;
    mesh.visible = !level;
    const middle = this.stage.center.clone();
    middle.addScaledVector(normal, point.sub(middle).dot(normal));
    const reach = 1.1 * this.run.size;
    mesh.matrix.compose(middle, turn.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal), new THREE.Vector3(reach, reach, reach));
  }

  show(frame) {
    const rows = this.run.row('obstacles', frame);
    for (const item of this.items) {
      const pose = rows.subarray(6 * item.k, 6 * item.k + 6);
      const { kind, radius } = item.obstacle;
      if (kind === 'plane') this.placePlane(item, pose);
      else at(item.meshes[0].matrix, vector(pose, 0), radius);
      if (kind === 'capsule') {
        at(item.meshes[1].matrix, vector(pose, 3), radius);
        between(item.meshes[2].matrix, vector(pose, 0), vector(pose, 3), radius);
      }
      for (const mesh of item.meshes) mesh.matrixWorldNeedsUpdate = true;
    }
  }
}

export const CONTACT_COLORS = ['#13b2a0', '#ff7a1a']; // sticks, slips

export class Contacts {
  constructor(run) {
    this.run = run;
    const material = new THREE.MeshStandardMaterial({ roughness: 0.5, depthTest: true });
    this.rods = new Solids(rod(), material, false);
    this.heads = new Solids(cone(), material, false);
    this.group = new THREE.Group();
    this.group.add(this.rods.group, this.heads.group);
    this.group.visible = false;
    this.colors = CONTACT_COLORS.map((color) => new THREE.Color(color));
    this.scaled = -1;
  }

  // A large force of the motion has an arrow of a fifth of the scene; those of impacts are cut short.
  setScale() {
    if (this.scaled === this.run.nframe) return;
    this.scaled = this.run.nframe;
    const forces = [];
    for (let k = 0; k < 60; k++) {
      const list = this.run.contacts(Math.floor((k * (this.run.nframe - 1)) / 59));
      for (let i = 0; i < list.length; i += 7) forces.push(Math.hypot(list[i + 3], list[i + 4], list[i + 5]));
    }
    forces.sort((a, b) => a - b);
    this.force = forces.length ? forces[Math.floor(0.95 * (forces.length - 1))] || 1 : 1;
  }

  show(frame) {
    if (!this.group.visible) return;
    this.setScale();
    const list = this.run.contacts(frame);
    const { size } = this.run;
    this.rods.begin(list.length / 7);
    this.heads.begin(list.length / 7);
    for (let i = 0; i < list.length; i += 7) {
      const from = vector(list, i);
      const force = vector(list, i + 3);
      const length = Math.min(0.3 * size, (0.18 * size * force.length()) / this.force);
      if (!(length > 1e-3 * size)) continue;
      const thick = Math.min(0.006 * size, 0.09 * length);
      const tip = from.clone().addScaledVector(force.normalize(), length);
      const neck = tip.clone().addScaledVector(force, -Math.min(0.3 * length, 5 * thick));
      const color = this.colors[list[i + 6] === 1 ? 0 : 1];
      this.rods.add(between(matrix, from, neck, thick), color);
      this.heads.add(between(matrix, neck, tip, 2.6 * thick), color);
    }
    this.rods.end();
    this.heads.end();
  }
}

export { activationColor, colorAt };
