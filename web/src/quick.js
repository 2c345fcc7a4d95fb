// A cheap likeness of Lambert's material for moving scenes where the processor draws: light, tone mapping and gamma are
// computed here for each vertex, so that the vertex shader is one product and the fragment shader a copy.
import * as THREE from 'three';

const VERTEX = `
attribute vec4 tone;
uniform mat4 all;
invariant gl_Position;
varying vec3 shown;
#ifdef TWO_SIDED
attribute vec4 toneBehind;
varying vec3 shownBehind;
#endif
#include <clipping_planes_pars_vertex>
void main() {
  gl_Position = all * vec4(position, 1.0);
  shown = tone.rgb;
#ifdef TWO_SIDED
  shownBehind = toneBehind.rgb;
#endif
#if NUM_CLIPPING_PLANES > 0
  vec4 mvPosition = modelViewMatrix * vec4(position, 1.0);
#endif
  #include <clipping_planes_vertex>
}`;
const FRAGMENT = `
uniform float opacity;
varying vec3 shown;
#ifdef TWO_SIDED
varying vec3 shownBehind;
#endif
#include <clipping_planes_pars_fragment>
void main() {
  #include <clipping_planes_fragment>
#ifdef TWO_SIDED
  gl_FragColor = vec4(gl_FrontFacing ? shown : shownBehind, opacity);
#else
  gl_FragColor = vec4(shown, opacity);
#endif
}`;

const GAMMA = Uint8Array.from({ length: 1025 }, (_, i) => Math.round(255 * (i < 3.2 ? (12.92 * i) / 1024 : 1.055 * (i / 1024) ** (1 / 2.4) - 0.055)));
const lights = { up: new THREE.Vector3(), sky: [], floor: [], ways: [], tones: [] };

export function setQuickLights({ axis, sky, key, fill }) {
  const rgb = (color, intensity) => [color.r, color.g, color.b].map((value) => (value * intensity) / Math.PI);
  lights.up.copy(axis);
  lights.sky = rgb(sky.color, sky.intensity);
  lights.floor = rgb(sky.groundColor, sky.intensity);
  lights.ways = [key, fill].map((light) => new THREE.Vector3().subVectors(light.position, light.target.position).normalize());
  lights.tones = [key, fill].map((light) => rgb(light.color, light.intensity));
}

// The colours of some lit vertices, 4 bytes each (3 would be converted by the processor once more); side -1: seen from behind.
function shade(list, normal, color, side, out) {
  const { up, sky, floor, ways: [k, f], tones: [key, fill] } = lights;
  for (let at = 0, to = 0; at < list.length; at++, to += 4) {
    const i = 3 * list[at];
    const x = side * normal[i], y = side * normal[i + 1], z = side * normal[i + 2];
    const h = 0.5 + 0.5 * (x * up.x + y * up.y + z * up.z);
    const a = Math.max(0, x * k.x + y * k.y + z * k.z);
    const b = Math.max(0, x * f.x + y * f.y + z * f.z);
    let red = color[i] * (floor[0] + h * (sky[0] - floor[0]) + a * key[0] + b * fill[0]);
    let green = color[i + 1] * (floor[1] + h * (sky[1] - floor[1]) + a * key[1] + b * fill[1]);
    let blue = color[i + 2] * (floor[2] + h * (sky[2] - floor[2]) + a * key[2] + b * fill[2]);
    // as THREE.NeutralToneMapping
    const low = Math.min(red, green, blue);
    const offset = low < 0.08 ? low - 6.25 * low * low : 0.04;
    red -= offset; green -= offset; blue -= offset;
    const peak = Math.max(red, green, blue);
    if (peak > 0.76) {
      const next = 1 - 0.0576 / (peak - 0.52);
      const g = 1 - 1 / (0.15 * (peak - next) + 1);
      const scale = ((1 - g) * next) / peak;
      red = red * scale + g * next; green = green * scale + g * next; blue = blue * scale + g * next;
    }
    out[to] = GAMMA[(1024 * red) | 0];
    out[to + 1] = GAMMA[(1024 * green) | 0];
    out[to + 2] = GAMMA[(1024 * blue) | 0];
  }
}

// Triangles: drawn as they are up to the first number, and where frames take long up to the second; of the shadow.
const MOST = [40000, 6000];
const MOST_SHADOW = 1500;
const [EYE, BACK] = [new THREE.Vector3(), new THREE.Matrix4()];

// Fewer triangles between some of the vertices: one for each cell of a grid at rest, if they have the same owner and nearly
// the same direction.
function coarsen(rest, { node: vertexNode, vertex: index, normal: { array: normal }, owner }, most) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < vertexNode.length; i++) {
    for (let a = 0; a < 3; a++) {
      const x = rest[3 * vertexNode[i] + a];
      low[a] = Math.min(low[a], x);
      high[a] = Math.max(high[a], x);
    }
  }
  const count = index.length / 3;
  const size = Math.max(...high.map((x, a) => x - low[a]));
  const stands = new Uint32Array(vertexNode.length);
  for (let cells = Math.ceil(Math.sqrt(most)); ; cells = Math.floor(0.8 * cells)) {
    const cell = size / cells;
    const first = new Map();
    for (let t = 0; t < count; t++) {
      for (let c = 3 * t; c < 3 * t + 3; c++) {
        const v = index[c];
        const [x, y, z] = [0, 1, 2].map((a) => Math.floor((rest[3 * vertexNode[v] + a] - low[a]) / cell));
        let way = 0;
        for (let a = 0; a < 3; a++) way = 3 * way + Math.round(normal[3 * v + a]) + 1;
        const key = (((x * (cells + 1) + y) * (cells + 1) + z) * 27 + way) * 1024 + (owner[t] % 1024);
        if (!first.has(key)) first.set(key, v);
        stands[v] = first.get(key);
      }
    }
    const out = [];
    for (let c = 0; c < index.length; c += 3) {
      const p = stands[index[c]], q = stands[index[c + 1]], r = stands[index[c + 2]];
      if (p !== q && q !== r && r !== p) out.push(p, q, r);
    }
    if (out.length / 3 <= most || cells < 8) return Uint32Array.from(out);
  }
}

// Triangles over those vertices alone that they or their shadow have: {list, every triangle, geometry of those that are shown, shadow}.
function compact(triangles, shadow, count) {
  const number = new Int32Array(count).fill(-1);
  const list = [];
  const renumber = (index) => index.map((v) => {
    if (number[v] < 0) number[v] = list.push(v) - 1;
    return number[v];
  });
  const [wide, wideShadow] = [renumber(triangles), renumber(shadow)];
  const Index = list.length < 65536 ? Uint16Array : Uint32Array;
  const every = Index.from(wide);
  const geometry = new THREE.BufferGeometry();
  const below = new THREE.BufferGeometry();
  geometry.setIndex(new THREE.BufferAttribute(every.slice(), 1).setUsage(THREE.DynamicDrawUsage));
  below.setIndex(new THREE.BufferAttribute(Index.from(wideShadow), 1));
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * list.length), 3).setUsage(THREE.DynamicDrawUsage));
  below.attributes = geometry.attributes;
  return { list: Uint32Array.from(list), every, geometry, shadow: below };
}

// The projection along the key light onto the ground; drawn flat, and below everything.
export const ground = { matrix: new THREE.Matrix4(), color: new THREE.Color() };

export function setQuickGround({ axis, height0, key, scene }, opacity) {
  const way = new THREE.Vector3().subVectors(key.position, key.target.position);
  way.divideScalar(way.dot(axis));
  const l = way.toArray();
  const n = axis.toArray();
  ground.matrix.set(...[0, 1, 2].flatMap((r) => [...[0, 1, 2].map((c) => Number(r === c) - l[r] * n[c]), l[r] * height0]), 0, 0, 0, 1);
  ground.color.copy(scene.background).convertLinearToSRGB().multiplyScalar(1 - 0.8 * opacity);
}

const FLAT = 'uniform vec3 color; void main() { gl_FragColor = vec4(color, 1.0); }';
const FLAT_VERTEX = 'uniform mat4 all; invariant gl_Position; void main() { gl_Position = all * vec4(position, 1.0); }';

// A second look of a mesh.
export class Quick {
  constructor(surface, rest) {
    const { mesh } = surface;
    this.mesh = mesh;
    this.surface = surface;
    this.rest = rest;
    this.full = mesh.material;
    this.geometry = mesh.geometry;
    this.shadowAll = new THREE.Matrix4();
    this.shadow = new THREE.Mesh(mesh.geometry, new THREE.ShaderMaterial({
      vertexShader: FLAT_VERTEX, fragmentShader: FLAT, uniforms: { all: { value: this.shadowAll }, color: { value: ground.color } },
      side: THREE.DoubleSide, depthTest: false, depthWrite: false, toneMapped: false,
    }));
    this.shadow.renderOrder = -4;
    this.shadow.frustumCulled = this.shadow.castShadow = this.shadow.visible = false;
    this.shadow.onBeforeRender = (renderer, scene, camera) => {
      this.shadowAll.multiplyMatrices(ground.matrix, mesh.matrixWorld).premultiply(camera.matrixWorldInverse).premultiply(camera.projectionMatrix);
      this.shadow.material.uniformsNeedUpdate = true;
    };
    this.all = new THREE.Matrix4();
    this.material = new THREE.ShaderMaterial({
      vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms: { all: { value: this.all }, opacity: { value: 1 } }, clipping: true,
      polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, toneMapped: false,
    });
    // the depth of translucent flesh, from the same product
    this.depth = surface.depth;
    this.fullDepth = surface.depth.material;
    this.depthMaterial = new THREE.ShaderMaterial({
      vertexShader: FLAT_VERTEX, fragmentShader: FLAT, uniforms: { all: { value: this.all }, color: { value: ground.color } }, colorWrite: false,
      polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, toneMapped: false,
    });
    this.shapes = [];
    this.stale = true;
    this.depth.onBeforeRender = (renderer, scene, camera) => {
      this.place(camera);
      this.depthMaterial.uniformsNeedUpdate = true;
    };
    mesh.onBeforeRender = (renderer, scene, camera) => {
      this.place(camera);
      this.material.uniformsNeedUpdate = true;
    };
  }

  place(camera) {
    this.all.multiplyMatrices(camera.matrixWorldInverse, this.mesh.matrixWorld).premultiply(camera.projectionMatrix);
  }

  tones(name, side) {
    const { geometry, list } = this.shape;
    const { attributes } = geometry;
    if (!attributes[name]) {
      const buffer = new THREE.InterleavedBuffer(new Uint8Array(4 * list.length), 4).setUsage(THREE.DynamicDrawUsage);
      geometry.setAttribute(name, new THREE.InterleavedBufferAttribute(buffer, 4, 0, true));
    }
    const { data } = attributes[name];
    shade(list, this.surface.normal.array, this.surface.color.array, side, data.array);
    data.needsUpdate = true;
  }

  // Vertices have moved or have other colours.
  changed() {
    this.stale = true;
  }

  refresh(two) {
    const { geometry, list } = this.shape;
    const to = geometry.attributes.position;
    const from = this.surface.position.array;
    for (let i = 0, k = 0; i < list.length; i++) {
      const v = 3 * list[i];
      to.array[k++] = from[v];
      to.array[k++] = from[v + 1];
      to.array[k++] = from[v + 2];
    }
    to.needsUpdate = true;
    this.tones('tone', 1);
    if (two) this.tones('toneBehind', -1);
    this.stale = false;
  }

  // Of surfaces that show one side the triangles that face the viewer alone: the others cost nearly as much, and are not seen.
  face(camera, two) {
    const { geometry, every } = this.shape;
    const p = geometry.attributes.position.array;
    const { x: ex, y: ey, z: ez } = EYE.setFromMatrixPosition(camera.matrixWorld).applyMatrix4(BACK.copy(this.mesh.matrixWorld).invert());
    const shown = geometry.index;
    let count = 0;
    for (let t = 0; t < every.length; t += 3) {
      const i = every[t], j = every[t + 1], k = every[t + 2];
      const ax = p[3 * i], ay = p[3 * i + 1], az = p[3 * i + 2];
      const ux = p[3 * j] - ax, uy = p[3 * j + 1] - ay, uz = p[3 * j + 2] - az;
      const vx = p[3 * k] - ax, vy = p[3 * k + 1] - ay, vz = p[3 * k + 2] - az;
      if (two || (uy * vz - uz * vy) * (ex - ax) + (uz * vx - ux * vz) * (ey - ay) + (ux * vy - uy * vx) * (ez - az) > 0) {
        shown.array[count++] = i;
        shown.array[count++] = j;
        shown.array[count++] = k;
      }
    }
    shown.clearUpdateRanges();
    shown.addUpdateRange(0, count);
    shown.needsUpdate = true;
    geometry.setDrawRange(0, count);
  }

  // The triangles that are drawn; few: where frames take long.
  choose(few) {
    const level = Number(few);
    if (!this.shapes[level]) {
      const { vertex, node } = this.surface;
      const fewer = (most) => (vertex.length / 3 > 1.5 * most ? coarsen(this.rest, this.surface, most) : vertex);
      const other = this.shapes[1 - level];
      const triangles = fewer(MOST[level]);
      this.shapes[level] = other?.every.length === triangles.length ? other : compact(triangles, fewer(MOST_SHADOW), node.length);
    }
    this.stale ||= this.shape !== this.shapes[level];
    this.shape = this.shapes[level];
    this.shadow.geometry = this.shape.shadow;
    return this.shape.geometry;
  }

  // how: null, or {shadow, few, camera} for a likeness.
  set(how) {
    const { full, material } = this;
    const on = Boolean(how) && !(full.transparent && full.clippingPlanes?.length); // the depth knows no planes
    this.mesh.geometry = this.depth.geometry = on ? this.choose(how.few) : this.geometry;
    this.depth.material = on ? this.depthMaterial : this.fullDepth;
    this.depthMaterial.side = full.side;
    this.shadow.visible = on && how.shadow && this.mesh.visible && this.mesh.castShadow;
    this.mesh.material = on ? material : full;
    if (!on) return;
    const two = full.side === THREE.DoubleSide;
    if (two !== Boolean(material.defines.TWO_SIDED)) {
      if (two) material.defines.TWO_SIDED = 1;
      else delete material.defines.TWO_SIDED;
      material.needsUpdate = true;
    }
    material.side = full.side;
    material.transparent = full.transparent;
    material.depthFunc = full.depthFunc;
    material.uniforms.opacity.value = full.opacity;
    material.clippingPlanes = full.clippingPlanes;
    if (this.stale || (two && !this.shape.geometry.attributes.toneBehind)) this.refresh(two);
    this.face(how.camera, two);
  }
}
