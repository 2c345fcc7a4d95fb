// The stage: renderer, camera, lights, ground and sky, one set for all motions.
import * as THREE from 'three';
import { setQuickGround, setQuickLights } from './quick.js';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

const THEMES = {
  light: { top: '#f4f7fb', bottom: '#c9d3df', grid: '#5a6b80', line: 0.34, shadow: 0.3, sky: 1.25, key: 2.3, fill: 0.7, floor: '#aab3bd' },
  dark: { top: '#2b333f', bottom: '#10141a', grid: '#9db2cc', line: 0.26, shadow: 0.5, sky: 0.95, key: 2.5, fill: 0.8, floor: '#2a3038' },
};

// What is given up while a scene moves and frames take long: triangles, and pixels over those of the screen.
const HASTE = [{ few: false, pixels: 1 }, { few: true, pixels: 1 }, { few: true, pixels: 0.75 }, { few: true, pixels: 0.5 }];

const NARROW = 0.85; // width over height

const GRID_VERTEX = `
varying vec3 place;
void main() { vec4 world = modelMatrix * vec4(position, 1.0); place = world.xyz; gl_Position = projectionMatrix * viewMatrix * world; }`;
// Lines one pixel wide, every tenth stronger, that fade out with the distance from the scene.
const GRID_FRAGMENT = `
uniform vec3 center, tone; uniform float spacing, reach, strength; uniform int up; varying vec3 place;
float lines(vec2 at, float width) { vec2 d = fwidth(at); vec2 a = abs(fract(at - 0.5) - 0.5) / max(d, vec2(1e-6)); float near = 1.0 - min(min(a.x, a.y), 1.0); return near * (1.0 - smoothstep(0.2, 0.6, max(d.x, d.y))); }
void main() {
  vec2 at = up == 0 ? place.yz : up == 1 ? place.zx : place.xy, c = up == 0 ? center.yz : up == 1 ? center.zx : center.xy;
  float fade = 1.0 - smoothstep(0.3 * reach, reach, distance(at, c));
  float alpha = max(0.55 * lines(at / spacing, 1.0), lines(at / (5.0 * spacing), 1.0)) * fade * strength;
  if (alpha < 0.004) discard;
  gl_FragColor = vec4(tone, alpha);
  #include <colorspace_fragment>
}`;

// Lines whose colours are ready to be shown.
const LINE_VERTEX = `
attribute vec4 color; varying vec3 shown;
void main() { gl_Position = projectionMatrix * (modelViewMatrix * vec4(position, 1.0)); shown = color.rgb; }`;
const LINE_FRAGMENT = 'varying vec3 shown; void main() { gl_FragColor = vec4(shown, 1.0); }';

// Whether pixels are drawn by the processor: then they are spared.
function isSoftware() {
  const gl = document.createElement('canvas').getContext('webgl2');
  const info = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

function skyTexture(theme) {
  const canvas = document.createElement('canvas');
  canvas.width = 2;
  canvas.height = 256;
  const context = canvas.getContext('2d');
  const gradient = context.createLinearGradient(0, 0, 0, 256);
  gradient.addColorStop(0, theme.top);
  gradient.addColorStop(1, theme.bottom);
  context.fillStyle = gradient;
  context.fillRect(0, 0, 2, 256);
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}

// 1, 2 or 5 times a power of ten.
function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const m = value / power;
  return (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10) * power;
}

export class Stage {
  constructor(canvas, run) {
    this.canvas = canvas;
    this.up = run.header.up;
    this.lower = new THREE.Vector3(...run.header.lower);
    this.upper = new THREE.Vector3(...run.header.upper);
    this.center = this.lower.clone().add(this.upper).multiplyScalar(0.5);
    this.size = run.size;
    this.axis = new THREE.Vector3(...[0, 1, 2].map((a) => Number(a === this.up)));
    this.plain = isSoftware();
    document.documentElement.classList.toggle('plain', this.plain);
    this.hasty = new Set(); // surfaces that are drawn cheaply while they move
    const context = canvas.getContext('webgl2', { alpha: false, antialias: !this.plain, stencil: false, powerPreference: 'high-performance' });
    this.renderer = new THREE.WebGLRenderer({ canvas, context: context || undefined });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = this.plain ? THREE.BasicShadowMap : THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.0;
    this.renderer.localClippingEnabled = true;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(30, 1, 0.01 * this.size, 200 * this.size);
    this.camera.up.copy(this.axis);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener('change', () => this.changed());
    this.dirty = true;
    this.haste = 0; // a row of HASTE, while the scene moves
    this.pace = 30; // ms per frame
    this.paced = -12; // frames since haste has changed; the first ones of all are slow
    this.width = this.height = 0;
    const given = run.header.ground;
    const { live } = run.header; // where things will go is not known: leave room
    this.room = live ? 1.7 : 1.18;
    this.height0 = given ?? this.lower.getComponent(this.up) - (live ? 0.6 : 2e-3) * this.size;
    this.addLights();
    this.addGround();
    this.setTheme('light');
    this.home(run.header.view);
  }

  changed() {
    this.dirty = true;
    this.onChange?.();
  }

  // A direction in the frame of the up axis: (right, up, towards the viewer).
  direction(right, up, toward) {
    const out = new THREE.Vector3();
    out.setComponent((this.up + 2) % 3, right);
    out.setComponent(this.up, up);
    out.setComponent((this.up + 1) % 3, toward);
    return out;
  }

  addLights() {
    this.sky = new THREE.HemisphereLight('#ffffff', '#8d8478', 1);
    this.sky.position.copy(this.axis);
    this.key = new THREE.DirectionalLight('#fff3e2', 2);
    this.fill = new THREE.DirectionalLight('#cfe0ff', 0.6);
    this.scene.add(this.sky, this.key, this.key.target, this.fill, this.fill.target);
    const reach = (this.room > 1.5 ? 1.1 : 0.5) * this.upper.distanceTo(this.lower) + 1e-9;
    const away = this.direction(0.55, 1, 0.65).normalize();
    this.key.position.copy(this.center).addScaledVector(away, 3 * reach);
    this.key.target.position.copy(this.center);
    this.fill.position.copy(this.center).addScaledVector(this.direction(-0.8, 0.3, -0.5), 3 * reach);
    this.fill.target.position.copy(this.center);
    this.key.castShadow = true;
    const frustum = this.key.shadow.camera;
    frustum.left = frustum.bottom = -1.15 * reach;
    frustum.right = frustum.top = 1.15 * reach;
    frustum.near = 0.5 * reach;
    frustum.far = 8 * reach;
    this.key.shadow.mapSize.setScalar(this.plain ? 1024 : 2048);
    this.key.shadow.radius = 5;
    this.key.shadow.normalBias = 0.004 * this.size;
    this.key.shadow.bias = -0.0004;
  }

  addGround() {
    const disc = new THREE.CircleGeometry(2.6 * this.size, 64);
    const shade = new THREE.CircleGeometry((this.plain ? 1.2 : 2.6) * this.size, 64);
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.axis);
    const place = this.center.clone().setComponent(this.up, this.height0);
    this.shadow = new THREE.Mesh(shade, new THREE.ShadowMaterial({ transparent: true, depthWrite: false }));
    this.shadow.receiveShadow = true;
    this.shadow.renderOrder = -2;
    this.grid = new THREE.Mesh(disc, new THREE.ShaderMaterial({
      vertexShader: GRID_VERTEX,
      fragmentShader: GRID_FRAGMENT,
      transparent: true,
      depthWrite: false,
      side: THREE.DoubleSide,
      uniforms: {
        center: { value: place }, tone: { value: new THREE.Color() }, spacing: { value: roundStep(0.12 * this.size) },
        reach: { value: 2.6 * this.size }, strength: { value: 1 }, up: { value: this.up },
      },
    }));
    this.grid.renderOrder = -1;
    this.ground = new THREE.Group();
    for (const mesh of [this.shadow, this.grid]) {
      mesh.quaternion.copy(turn);
      mesh.position.copy(place);
      this.ground.add(mesh);
    }
    this.grid.position.addScaledVector(this.axis, 1e-4 * this.size);
    if (this.plain) this.addLines(place);
    this.scene.add(this.ground);
  }

  // The grid as lines, which cost less than pixels; for moving scenes where the processor draws.
  addLines(place) {
    const { spacing, reach } = Object.fromEntries(Object.entries(this.grid.material.uniforms).map(([name, { value }]) => [name, value]));
    const across = [(this.up + 1) % 3, (this.up + 2) % 3];
    const position = [];
    const strength = [];
    const put = (a, b, weight) => {
      const at = place.toArray();
      at[across[0]] = a;
      at[across[1]] = b;
      position.push(...at);
      const fade = Math.min(1, Math.max(0, (reach - Math.hypot(a - place.getComponent(across[0]), b - place.getComponent(across[1]))) / (0.7 * reach)));
      strength.push(weight * fade * fade * (3 - 2 * fade));
    };
    for (const way of [0, 1]) {
      const middle = place.getComponent(across[way]);
      const other = place.getComponent(across[1 - way]);
      for (let k = Math.ceil((middle - reach) / spacing); k * spacing < middle + reach; k++) {
        const half = Math.sqrt(reach ** 2 - (k * spacing - middle) ** 2);
        const weight = k % 5 ? 0.55 : 1;
        for (let i = 0; i < 10; i++) {
          for (const t of [i, i + 1]) {
            const along = other + half * (t / 5 - 1);
            if (way) put(along, k * spacing, weight);
            else put(k * spacing, along, weight);
          }
        }
      }
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(position, 3));
    geometry.setAttribute('color', new THREE.BufferAttribute(new Uint8Array((4 * position.length) / 3), 4, true));
    this.lines = new THREE.LineSegments(geometry, new THREE.ShaderMaterial({
      vertexShader: LINE_VERTEX, fragmentShader: LINE_FRAGMENT, depthTest: false, depthWrite: false, toneMapped: false,
    }));
    this.lines.strength = strength;
    this.lines.renderOrder = -5;
    this.ground.add(this.lines);
  }

  paintLines(theme) {
    const color = this.lines.geometry.attributes.color;
    const tone = new THREE.Color(theme.grid);
    const mixed = new THREE.Color();
    this.lines.strength.forEach((weight, i) => {
      mixed.copy(this.scene.background).lerp(tone, 0.8 * weight * theme.line).convertLinearToSRGB();
      color.setXYZ(i, mixed.r, mixed.g, mixed.b);
    });
    color.needsUpdate = true;
  }

  setTheme(name) {
    const theme = THEMES[name];
    this.theme = name;
    this.scene.background = this.plain ? new THREE.Color(theme.top).lerp(new THREE.Color(theme.bottom), 0.5) : skyTexture(theme);
    this.sky.intensity = theme.sky;
    this.sky.groundColor.set(theme.floor);
    this.key.intensity = theme.key;
    this.fill.intensity = theme.fill;
    this.shadow.material.opacity = theme.shadow;
    this.grid.material.uniforms.tone.value.set(theme.grid);
    this.grid.material.uniforms.strength.value = theme.line;
    setQuickLights(this);
    if (this.plain) setQuickGround(this, theme.shadow);
    if (this.lines) this.paintLines(theme);
    this.changed();
  }

  // The view of the scene file, or a three-quarter view that holds the whole motion.
  home(view) {
    if (view) {
      this.camera.fov = view.field_of_view > 0 ? view.field_of_view : 30;
      this.camera.position.set(...view.eye);
      this.controls.target.set(...view.target);
    } else this.camera.fov = 30;
    this.given = view;
    this.camera.updateProjectionMatrix();
    this.fit();
    this.controls.update();
    this.changed();
  }

  // The view for the window's shape: a given one steps back where the window is narrow.
  fit() {
    if (!this.given) this.frame();
    else if (this.width) this.camera.position.sub(this.controls.target).multiplyScalar(Math.max(1, NARROW / this.camera.aspect)).add(this.controls.target);
  }

  frame(width = 0) {
    const toward = this.direction(0.62, 0.42, 1).normalize();
    const forward = toward.clone().negate();
    const right = forward.clone().cross(this.axis).normalize();
    const above = right.clone().cross(forward);
    const tan = Math.tan((this.camera.fov * Math.PI) / 360);
    let away = 0;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(...[0, 1, 2].map((a) => ((k >> a) & 1 ? this.upper : this.lower).getComponent(a))).sub(this.center);
      const side = Math.abs(corner.dot(right)) + width;
      away = Math.max(away, Math.max(side / (tan * this.camera.aspect), Math.abs(corner.dot(above)) / tan) + corner.dot(toward));
    }
    this.camera.position.copy(this.center).addScaledVector(toward, this.room * away);
    this.controls.target.copy(this.center);
    this.controls.update();
    this.changed();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    const ratio = this.plain ? 1 : Math.min(window.devicePixelRatio || 1, 2);
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    const first = !this.width;
    Object.assign(this, { width, height, ratio });
    this.scale = 0;
    this.setScale(HASTE[this.haste].pixels);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    if (first && !this.linked) this.fit();
    this.changed();
  }

  setScale(scale) {
    if (scale === this.scale) return;
    this.scale = scale;
    this.renderer.setPixelRatio(scale * this.ratio);
    this.renderer.setSize(this.width, this.height, false);
  }

  // More haste where frames take long, less when they do not; only while the scene moves all the time.
  adapt(now) {
    const took = now - this.drawn;
    if (!(took < 250)) return;
    this.pace = 0.85 * this.pace + 0.15 * Math.min(took, 120);
    if (++this.paced < 12) return;
    if (this.pace > 66 && this.haste < HASTE.length - 1) this.haste++;
    else if (this.pace < 38 && this.haste > 0) this.haste--; // all triangles of a large body take 25 ms more than few
    else return;
    this.paced = 0;
  }

  // How the scene is drawn: in haste while it moves and the processor draws. One that rests is drawn once more there, with
  // four times as many pixels.
  dress(hurry) {
    const above = this.camera.position.dot(this.axis) > this.height0;
    const how = hurry ? { shadow: above && this.ground.visible, few: HASTE[this.haste].few, camera: this.camera } : null;
    for (const surface of this.hasty) surface.hurry(how);
    this.shadow.visible = !hurry;
    this.grid.visible = above && !hurry;
    if (this.lines) this.lines.visible = above && hurry;
  }

  // Draws where something has changed since the last time.
  draw(now = performance.now()) {
    this.resize();
    this.controls.update();
    const moved = this.dirty;
    if (!moved && (!(now - this.drawn > 300) || this.rested)) return false;
    if (!moved && !this.plain && this.scale === 1) return false;
    if (moved) this.adapt(now);
    this.rested = !moved;
    this.dirty = false;
    this.drawn = now;
    this.setScale(moved ? HASTE[this.haste].pixels : this.plain ? 2 : 1);
    this.renderer.shadowMap.autoUpdate = !this.plain; // what moves in haste has a flat shadow
    this.renderer.shadowMap.needsUpdate = !moved;
    this.dress(this.plain && moved);
    this.renderer.render(this.scene, this.camera);
    return moved;
  }
}
