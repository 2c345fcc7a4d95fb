// A motion on the stage: all its parts, at one frame, as the options say.
import * as THREE from 'three';
import { TABLE, linear } from './colors.js';
import { Bones, Cables, Contacts, Muscles, Obstacles } from './parts.js';
import { Section, Surface } from './surface.js';

// of chambers, linear
const CALM = [0.72, 0.62, 0.55];
const ACTIVE = [0.75, 0.03, 0.02];

export class RunView {
  constructor(run, stage) {
    this.run = run;
    this.stage = stage;
    this.group = new THREE.Group();
    stage.scene.add(this.group);
    this.points = new Float32Array(3 * run.nnode);
    this.values = new Float32Array(run.nnode);
    this.frame = 0;
    const { bodies, obstacles, links, segments, cables } = run.header;
    const colorOf = (owner) => (owner < bodies.length ? bodies[owner] : obstacles[owner - bodies.length]).color;
    this.surfaces = [];
    this.flesh = [];
    const kinds = [
      [(owner) => owner < bodies.length && !bodies[owner].sheet, {}, true],
      [(owner) => owner < bodies.length && bodies[owner].sheet, { sheet: true, roughness: 0.8 }, true],
      [(owner) => owner >= bodies.length, { sheet: true, roughness: 0.75 }, false],
    ];
    for (const [wanted, options, flesh] of kinds) {
      const triangle = [];
      const owner = [];
      run.owner.forEach((who, t) => {
        if (!wanted(who)) return;
        triangle.push(run.triangle[3 * t], run.triangle[3 * t + 1], run.triangle[3 * t + 2]);
        owner.push(who);
      });
      if (!owner.length) continue;
      const surface = new Surface(run.rest, Uint32Array.from(triangle), owner, colorOf, { ...options, plain: stage.plain });
      this.surfaces.push(surface);
      stage.hasty.add(surface);
      if (flesh) this.flesh.push(surface);
      this.group.add(surface.group);
    }
    this.parts = {};
    if (links.length) this.parts.bones = new Bones(run);
    if (segments.length) this.parts.muscles = new Muscles(run);
    if (cables.length) this.parts.cables = new Cables(run);
    if (obstacles.length) this.parts.obstacles = new Obstacles(run, stage);
    if (run.header.contact) this.parts.contacts = new Contacts(run);
    if (run.chamberTriangle.length) this.parts.chambers = this.makeChambers();
    if (run.tet.length) {
      this.section = new Section(run.tet, run.tetBody);
      this.group.add(this.section.mesh);
    }
    for (const part of Object.values(this.parts)) this.group.add(part.group);
    this.bodyTone = bodies.map((body) => body.color.map(linear));
  }

  // Cells wear the colour of their activation.
  makeChambers() {
    const { run } = this;
    const triangle = Uint32Array.from(run.chamberTriangle);
    const surface = new Surface(run.rest, triangle, new Array(triangle.length / 3).fill(0), () => [1, 1, 1], { sheet: true, plain: this.stage.plain });
    this.stage.hasty.add(surface);
    surface.setBehind();
    surface.group.visible = false;
    surface.mesh.castShadow = false;
    const levels = new Float32Array(run.nnode);
    return {
      group: surface.group,
      surface,
      show: (frame) => {
        if (!surface.group.visible) return;
        const activation = run.row('chambers', frame);
        let most = 1e-9;
        for (const a of activation) most = Math.max(most, Math.abs(a));
        this.mostActivation = Math.max(this.mostActivation || 0, most);
        levels.fill(0);
        for (let c = 0; c < triangle.length; c++) levels[triangle[c]] = Math.max(levels[triangle[c]], Math.abs(activation[Math.floor(c / 3)]));
        surface.move(this.points);
        surface.tint(levels, this.mostActivation, CALM, ACTIVE);
      },
    };
  }

  show(frame, options) {
    const { run } = this;
    this.frame = frame;
    run.points(frame, this.points);
    for (const surface of this.surfaces) surface.move(this.points);
    this.paint(frame, options);
    for (const part of Object.values(this.parts)) if (part.group.visible) part.show(frame);
    this.cut(options);
  }

  paint(frame, { color }) {
    const { run } = this;
    this.painted = color !== 'body' && (color === 'displacement' || run.fieldIndex(color) >= 0);
    if (this.painted) {
      run.values(color, frame, this.values, this.points);
      this.range = run.scale(color);
      if (run.header.live) {
        for (const value of this.values) {
          if (value > this.range[1]) this.range[1] = value;
          if (value < this.range[0]) this.range[0] = value;
        }
      }
    }
    for (const surface of this.flesh) surface.paint(this.painted ? this.values : null, ...(this.range || [0, 1]));
  }

  // Which parts are seen, and how.
  dress(options) {
    const hidden = { bones: !options.bones, muscles: !options.muscles, chambers: !options.chambers, contacts: !options.contacts };
    for (const [name, part] of Object.entries(this.parts)) part.group.visible = !hidden[name];
    for (const surface of this.surfaces) surface.wires.visible = options.wireframe;
    const inside = Math.min(options.opacity, this.ghost ? 0.3 : 1);
    for (const surface of this.flesh) surface.setOpacity(inside);
    const planes = options.cut ? [options.plane] : [];
    for (const surface of this.flesh) surface.setCut(planes);
    if (this.parts.chambers) this.parts.chambers.surface.setCut(planes);
  }

  cut(options) {
    if (!this.section) return;
    this.section.mesh.visible = options.cut;
    if (!options.cut) return;
    const tone = [0, 0, 0];
    const [low, high] = this.range || [0, 1];
    const local = options.plane.clone();
    local.constant += local.normal.dot(this.group.position);
    this.section.cut(this.points, local, (a, b, t, body) => {
      if (!this.painted) return this.bodyTone[body] || tone;
      const value = this.values[a] + t * (this.values[b] - this.values[a]);
      const q = 3 * Math.min(255, Math.max(0, Math.round((255 * (value - low)) / Math.max(high - low, 1e-30))));
      return TABLE.subarray(q, q + 3);
    });
  }

  // The shown node nearest to where the ray meets the surface; null: it misses.
  pick(raycaster, plane) {
    for (const surface of this.surfaces) surface.hurry(null); // all triangles
    const meshes = this.surfaces.map((surface) => surface.mesh).filter((mesh) => mesh.visible);
    for (const mesh of meshes) mesh.geometry.boundingSphere = new THREE.Sphere(this.stage.center.clone(), 1e9);
    const hits = raycaster.intersectObjects(meshes, false).filter((hit) => !plane || plane.distanceToPoint(hit.point) >= 0);
    if (!hits.length) return null;
    const [hit] = hits;
    const { surface } = hit.object.userData;
    let best = null;
    for (const vertex of [hit.face.a, hit.face.b, hit.face.c]) {
      const node = surface.node[vertex];
      const away = new THREE.Vector3(...this.points.subarray(3 * node, 3 * node + 3)).add(this.group.position).distanceTo(hit.point);
      if (!best || away < best.away) best = { node, away };
    }
    return { node: best.node, owner: surface.owner[hit.faceIndex], distance: hit.distance, point: hit.point };
  }

  dispose() {
    this.stage.scene.remove(this.group);
    for (const surface of this.surfaces) {
      this.stage.hasty.delete(surface);
      surface.dispose();
    }
  }
}
