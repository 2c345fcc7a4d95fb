// Surfaces: triangles over moving nodes, smooth but for edges that are sharp at rest, in colours.
import * as THREE from 'three';
import { TABLE, linear } from './colors.js';
import { Quick } from './quick.js';

const CREASE = Math.cos((40 * Math.PI) / 180);

// Triangles near one another are drawn after one another, so that their vertices are shaded once: the order of a Morton
// curve through their first corners.
function inOrder(rest, triangle) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < rest.length; i++) {
    low[i % 3] = Math.min(low[i % 3], rest[i]);
    high[i % 3] = Math.max(high[i % 3], rest[i]);
  }
  const scale = 1023 / Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2], 1e-30);
  const count = triangle.length / 3;
  const key = new Float64Array(count);
  for (let t = 0; t < count; t++) {
    let code = 0;
    for (let a = 0; a < 3; a++) {
      const q = Math.floor((rest[3 * triangle[3 * t] + a] - low[a]) * scale);
      for (let bit = 0; bit < 10; bit++) if ((q >> bit) & 1) code += 2 ** (3 * bit + a);
    }
    key[t] = code * count + t;
  }
  return Uint32Array.from(key.sort(), (k) => k % count);
}

function faceNormals(points, triangle, out) {
  for (let t = 0; t < triangle.length; t += 3) {
    const a = 3 * triangle[t];
    const b = 3 * triangle[t + 1];
    const c = 3 * triangle[t + 2];
    const ux = points[b] - points[a], uy = points[b + 1] - points[a + 1], uz = points[b + 2] - points[a + 2];
    const vx = points[c] - points[a], vy = points[c + 1] - points[a + 1], vz = points[c + 2] - points[a + 2];
    out[t] = uy * vz - uz * vy;
    out[t + 1] = uz * vx - ux * vz;
    out[t + 2] = ux * vy - uy * vx;
  }
}

// One vertex for each node and each smooth piece of surface around it: {node, vertex of each corner, edges}.
function splitAtCreases(rest, triangle, owner) {
  const ncorner = triangle.length;
  const parent = new Int32Array(ncorner).map((_, c) => c);
  const find = (c) => {
    while (parent[c] !== c) c = parent[c] = parent[parent[c]];
    return c;
  };
  const normal = new Float32Array(ncorner);
  faceNormals(rest, triangle, normal);
  const smooth = (s, t) => {
    const dot = normal[s] * normal[t] + normal[s + 1] * normal[t + 1] + normal[s + 2] * normal[t + 2];
    const length = Math.hypot(normal[s], normal[s + 1], normal[s + 2]) * Math.hypot(normal[t], normal[t + 1], normal[t + 2]);
    return owner[s / 3] === owner[t / 3] && dot >= CREASE * length;
  };
  const nnode = rest.length / 3;
  const edges = new Map();
  const pairs = [];
  for (let c = 0; c < ncorner; c++) {
    const t = c - (c % 3);
    const d = t + ((c + 1) % 3);
    const a = triangle[c];
    const b = triangle[d];
    const key = Math.min(a, b) * nnode + Math.max(a, b);
    const other = edges.get(key);
    if (other === undefined) {
      edges.set(key, c);
      pairs.push(c, d);
    } else {
      const s = other - (other % 3);
      if (!smooth(s, t)) continue;
      const next = s + ((other + 1) % 3);
      const same = triangle[other] === a;
      parent[find(c)] = find(same ? other : next);
      parent[find(d)] = find(same ? next : other);
    }
  }
  const number = new Int32Array(ncorner).fill(-1);
  const vertex = new Uint32Array(ncorner);
  const node = [];
  for (let c = 0; c < ncorner; c++) {
    const root = find(c);
    if (number[root] < 0) {
      number[root] = node.length;
      node.push(triangle[c]);
    }
    vertex[c] = number[root];
  }
  return { node: Int32Array.from(node), vertex, edges: Uint32Array.from(pairs, (c) => vertex[c]) };
}

// Places are looked up in the shadow map a little off the surface. Off a sheet that is towards the light, wherever its normal
// points: else its other side would lie in its own shadow.
const OFF_SHEET = THREE.ShaderChunk.shadowmap_vertex.replace('vec4 shadowWorldPosition;', `vec4 shadowWorldPosition;
#if defined(USE_SHADOWMAP) && NUM_DIR_LIGHT_SHADOWS > 0
  mat4 toMap = directionalShadowMatrix[0];
  if (dot(vec3(toMap[0][2], toMap[1][2], toMap[2][2]), shadowWorldNormal) > 0.0) shadowWorldNormal = -shadowWorldNormal;
#endif`);

function keepOffSheet(shader) {
  shader.vertexShader = shader.vertexShader.replace('#include <shadowmap_vertex>', OFF_SHEET);
}

export class Surface {
  // triangle: nodes; owner: of each triangle; color(owner): sRGB; sheet: seen from both sides.
  constructor(rest, triangle, owner, color, { sheet = false, roughness = 0.62, plain = false } = {}) {
    const order = inOrder(rest, triangle);
    this.triangle = new Uint32Array(triangle.length);
    order.forEach((from, t) => this.triangle.set(triangle.subarray(3 * from, 3 * from + 3), 3 * t));
    this.owner = Array.from(order, (from) => owner[from]);
    Object.assign(this, splitAtCreases(rest, this.triangle, this.owner));
    this.sheet = sheet;
    const count = this.node.length;
    this.position = new THREE.BufferAttribute(new Float32Array(3 * count), 3).setUsage(THREE.DynamicDrawUsage);
    this.normal = new THREE.BufferAttribute(new Float32Array(3 * count), 3).setUsage(THREE.DynamicDrawUsage);
    this.plain = new Float32Array(3 * count);
    for (let c = 0; c < triangle.length; c++) {
      color(this.owner[Math.floor(c / 3)]).forEach((value, a) => { this.plain[3 * this.vertex[c] + a] = linear(value); });
    }
    this.color = new THREE.BufferAttribute(this.plain.slice(), 3).setUsage(THREE.DynamicDrawUsage);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', this.position);
    geometry.setAttribute('normal', this.normal);
    geometry.setAttribute('color', this.color);
    geometry.setIndex(new THREE.BufferAttribute(this.vertex, 1));
    const Material = plain ? THREE.MeshLambertMaterial : THREE.MeshStandardMaterial;
    this.material = new Material({
      vertexColors: true, ...(plain ? {} : { roughness, metalness: 0 }), side: sheet ? THREE.DoubleSide : THREE.FrontSide,
      polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, shadowSide: sheet ? THREE.DoubleSide : THREE.BackSide,
    });
    if (sheet) this.material.onBeforeCompile = keepOffSheet;
    this.mesh = new THREE.Mesh(geometry, this.material);
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.mesh.userData.surface = this;
    // translucent flesh shows its nearest layer alone: depth first, then colour
    this.depthMaterial = new THREE.MeshBasicMaterial({ colorWrite: false, side: this.material.side });
    this.depth = new THREE.Mesh(geometry, this.depthMaterial);
    this.depth.visible = this.depth.castShadow = false;
    this.depth.frustumCulled = false;
    this.depth.renderOrder = 1;
    this.mesh.renderOrder = 2;
    const lines = new THREE.BufferGeometry();
    lines.setAttribute('position', this.position);
    lines.setIndex(new THREE.BufferAttribute(this.edges, 1));
    this.wires = new THREE.LineSegments(lines, new THREE.LineBasicMaterial({ color: '#0b1420', transparent: true, opacity: 0.38 }));
    this.wires.visible = false;
    this.wires.frustumCulled = false;
    this.wires.renderOrder = 3;
    this.group = new THREE.Group();
    this.group.add(this.depth, this.mesh, this.wires);
    this.quick = plain ? new Quick(this, rest) : null;
    if (plain) this.group.add(this.quick.shadow);
  }

  move(points) {
    const { node, vertex } = this;
    const position = this.position.array;
    const normal = this.normal.array;
    for (let i = 0, to = 0; i < node.length; i++) {
      const from = 3 * node[i];
      position[to++] = points[from];
      position[to++] = points[from + 1];
      position[to++] = points[from + 2];
    }
    normal.fill(0);
    for (let t = 0; t < vertex.length; t += 3) {
      const a = 3 * vertex[t], b = 3 * vertex[t + 1], c = 3 * vertex[t + 2];
      const ux = position[b] - position[a], uy = position[b + 1] - position[a + 1], uz = position[b + 2] - position[a + 2];
      const vx = position[c] - position[a], vy = position[c + 1] - position[a + 1], vz = position[c + 2] - position[a + 2];
      const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
      normal[a] += x; normal[a + 1] += y; normal[a + 2] += z;
      normal[b] += x; normal[b + 1] += y; normal[b + 2] += z;
      normal[c] += x; normal[c + 1] += y; normal[c + 2] += z;
    }
    for (let i = 0; i < normal.length; i += 3) {
      const length = Math.sqrt(normal[i] ** 2 + normal[i + 1] ** 2 + normal[i + 2] ** 2) || 1;
      normal[i] /= length; normal[i + 1] /= length; normal[i + 2] /= length;
    }
    this.position.needsUpdate = this.normal.needsUpdate = true;
    this.quick?.changed();
  }

  // While the scene moves where the processor draws, and when it rests.
  hurry(how) {
    this.quick?.set(how);
  }

  // values: of the nodes; null: plain colours.
  paint(values, low, high) {
    const color = this.color.array;
    if (!values) color.set(this.plain);
    else {
      const scale = 255 / Math.max(high - low, 1e-30);
      for (let i = 0; i < this.node.length; i++) {
        const q = 3 * Math.min(255, Math.max(0, Math.round((values[this.node[i]] - low) * scale)));
        color[3 * i] = TABLE[q];
        color[3 * i + 1] = TABLE[q + 1];
        color[3 * i + 2] = TABLE[q + 2];
      }
    }
    this.color.needsUpdate = true;
    this.quick?.changed();
  }

  // values of the nodes, 0 to high, as a mixture of two colours.
  tint(values, high, from, to) {
    const color = this.color.array;
    for (let i = 0; i < this.node.length; i++) {
      const t = Math.min(1, values[this.node[i]] / high);
      for (let a = 0; a < 3; a++) color[3 * i + a] = from[a] + t * (to[a] - from[a]);
    }
    this.color.needsUpdate = true;
    this.quick?.changed();
  }

  // Where another surface has the same triangles, that one is seen; drawn before it, to be seen through it.
  setBehind() {
    this.mesh.renderOrder = 0;
    for (const material of [this.material, this.quick?.material]) {
      if (material) material.polygonOffsetFactor = material.polygonOffsetUnits = 4;
    }
  }

  setOpacity(opacity) {
    const clear = opacity < 0.999;
    this.depth.visible = clear;
    this.material.transparent = clear;
    this.material.opacity = opacity;
    this.material.depthFunc = clear ? THREE.LessEqualDepth : THREE.LessDepth;
    this.depthMaterial.polygonOffset = clear;
    this.depthMaterial.polygonOffsetFactor = this.depthMaterial.polygonOffsetUnits = 1;
    this.mesh.castShadow = opacity > 0.02;
    this.mesh.visible = opacity > 0.02;
    this.material.needsUpdate = true;
  }

  // planes: to be cut by; inner sides are then seen.
  setCut(planes) {
    for (const material of [this.material, this.depthMaterial, this.wires.material]) {
      material.clippingPlanes = planes;
      material.clipShadows = false;
    }
    const side = planes.length || this.sheet ? THREE.DoubleSide : THREE.FrontSide;
    this.material.side = this.depthMaterial.side = side;
    this.material.needsUpdate = this.depthMaterial.needsUpdate = true;
  }

  dispose() {
    this.hurry(null);
    this.mesh.geometry.dispose();
    this.wires.geometry.dispose();
  }
}

// The cut through tets: where the plane n . x = d meets them, coloured as the nodes are.
export class Section {
  constructor(tet, tetBody) {
    this.tet = tet;
    this.tetBody = tetBody;
    this.geometry = new THREE.BufferGeometry();
    this.material = new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.9, side: THREE.DoubleSide, flatShading: true });
    this.mesh = new THREE.Mesh(this.geometry, this.material);
    this.mesh.frustumCulled = false;
    this.mesh.visible = false;
    this.mesh.renderOrder = 2;
    this.room = 0;
  }

  reserve(count) {
    if (count <= this.room) return;
    this.room = Math.ceil(1.5 * count);
    this.geometry.dispose();
    for (const name of ['position', 'color', 'normal']) {
      this.geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * this.room), 3).setUsage(THREE.DynamicDrawUsage));
    }
  }

  cut(points, plane, colorOf) {
    const { tet } = this;
    const n = plane.normal;
    const corners = [];
    const side = new Float32Array(points.length / 3);
    for (let i = 0; i < side.length; i++) side[i] = n.x * points[3 * i] + n.y * points[3 * i + 1] + n.z * points[3 * i + 2] + plane.constant;
    const cross = (a, b) => corners.push(a, b, side[a] / (side[a] - side[b]));
    const owner = [];
    for (let e = 0; e < tet.length; e += 4) {
      const above = [];
      const below = [];
      for (let k = 0; k < 4; k++) (side[tet[e + k]] > 0 ? above : below).push(tet[e + k]);
      if (!above.length || !below.length) continue;
      const body = this.tetBody[e / 4];
      if (above.length === 2) {
        const [a, b] = above;
        const [c, d] = below;
        cross(a, c); cross(a, d); cross(b, d);
        cross(a, c); cross(b, d); cross(b, c);
        owner.push(body, body);
      } else {
        const one = above.length === 1 ? above[0] : below[0];
        for (const other of above.length === 1 ? below : above) cross(one, other);
        owner.push(body);
      }
    }
    const count = corners.length / 3;
    this.reserve(Math.max(count, 3));
    const { position, color, normal } = this.geometry.attributes;
    for (let i = 0; i < count; i++) {
      const a = corners[3 * i], b = corners[3 * i + 1], t = corners[3 * i + 2];
      for (let k = 0; k < 3; k++) position.array[3 * i + k] = points[3 * a + k] + t * (points[3 * b + k] - points[3 * a + k]);
      normal.array[3 * i] = n.x; normal.array[3 * i + 1] = n.y; normal.array[3 * i + 2] = n.z;
      color.array.set(colorOf(a, b, t, owner[Math.floor(i / 3)]), 3 * i);
    }
    position.needsUpdate = color.needsUpdate = normal.needsUpdate = true;
    this.geometry.setDrawRange(0, count);
  }
}
