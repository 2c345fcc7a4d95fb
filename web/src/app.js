// The viewer: motions on a stage, a clock, and what the user has chosen. The panels are in panel.js.
import * as THREE from 'three';
import * as link from './link.js';
import { LINES } from './plot.js';
import { RunView } from './runview.js';
import { Stage } from './stage.js';

const MOST_PICKS = 4;

export class App {
  constructor(runs, canvas) {
    this.runs = runs;
    this.run = runs[0];
    this.canvas = canvas;
    const { header } = this.run;
    const inside = header.links.length || header.segments.length || header.cables.length;
    this.options = {
      color: 'body', wireframe: false, cut: false, cutAxis: 0, cutAt: 0.5, bones: true, muscles: true, chambers: false,
      contacts: false, ground: true, opacity: inside && this.run.triangle.length ? 0.45 : 1, compare: 'side', plane: new THREE.Plane(),
    };
    this.speed = 1;
    this.playing = false;
    this.frame = 0;
    this.clock = 0;
    this.loop = true;
    this.picks = [];
    this.listeners = [];
    this.shownFrames = 0;
    this.stage = new Stage(canvas, this.run);
    this.views = runs.map((run) => new RunView(run, this.stage));
    this.pickMarks = new THREE.Group();
    this.stage.scene.add(this.pickMarks);
    this.applyOptions();
    this.place();
    if (this.run.nframe) this.seek(0);
    this.listen();
  }

  on(listener) {
    this.listeners.push(listener);
  }

  tell(what) {
    for (const listener of this.listeners) listener(what);
  }

  time() {
    return this.run.nframe ? this.run.time[this.frame] : 0;
  }

  // ---- options ----

  set(name, value) {
    this.options[name] = value;
    if (name === 'compare') this.place();
    this.applyOptions();
    this.refresh();
    this.tell('options');
  }

  applyOptions() {
    const { options, stage } = this;
    const axis = options.cutAxis;
    const place = stage.lower.getComponent(axis) + options.cutAt * (stage.upper.getComponent(axis) - stage.lower.getComponent(axis));
    options.plane.normal.set(...[0, 1, 2].map((a) => (a === axis ? -1 : 0)));
    options.plane.constant = place;
    stage.ground.visible = options.ground;
    for (const view of this.views) view.dress(options);
    stage.changed();
  }

  // The second motion: beside the first, as a ghost in it, or not at all.
  place() {
    const [, other] = this.views;
    if (!other) return;
    const beside = this.options.compare === 'side';
    other.ghost = this.options.compare === 'ghost';
    other.group.visible = this.options.compare !== 'off';
    const width = this.run.size * 1.15;
    other.group.position.copy(this.stage.direction(beside ? width : 0, 0, 0));
    this.stage.center.lerpVectors(this.stage.lower, this.stage.upper, 0.5).addScaledVector(this.stage.direction(1, 0, 0), beside ? width / 2 : 0);
    if (!this.stage.linked) this.stage.frame(beside ? width / 2 : 0);
  }

  // ---- time ----

  seek(frame) {
    const count = this.run.nframe;
    if (!count) return;
    this.frame = Math.min(count - 1, Math.max(0, Math.round(frame)));
    this.clock = this.run.time[this.frame];
    this.refresh();
    this.tell('frame');
  }

  seekTime(time) {
    this.seek(this.run.frameAt(time));
  }

  refresh() {
    if (!this.run.nframe) return;
    const time = this.run.time[this.frame];
    this.views.forEach((view, k) => {
      const frame = k ? view.run.frameAt(time) : this.frame;
      if (view.group.visible) view.show(frame, this.options);
    });
    this.placeMarks();
    this.stage.changed();
  }

  play(on = !this.playing) {
    if (on && this.frame === this.run.nframe - 1) this.seek(0);
    this.playing = on;
    this.tell('play');
    if (!on) this.tell('frame');
  }

  step(by) {
    this.play(false);
    this.seek(this.frame + by);
  }

  tick(now) {
    const most = this.recording ? 0.04 : 0.25; // a movie skips nothing: where drawing is slow, it is slow motion
    const passed = this.before === undefined ? 0 : Math.min(most, (now - this.before) / 1000);
    this.before = now;
    if (this.playing && this.run.nframe > 1 && (!this.live || this.live.searching)) {
      this.clock += this.speed * passed;
      const { time, nframe } = this.run;
      if (this.clock > time[nframe - 1]) {
        if (this.loop && !this.recording) this.clock = time[0];
        else this.play(false);
      }
      const frame = this.frameBefore(this.clock);
      if (frame !== this.frame) {
        this.frame = frame;
        this.refresh();
        if (!this.stage.plain || !(now - this.told < 160)) { // panels cost time, too, where the processor draws
          this.told = now;
          this.tell('frame');
        }
      }
    }
    if (this.stage.draw(now)) this.shownFrames++;
  }

  frameBefore(time) {
    let frame = Math.min(this.frame, this.run.nframe - 1);
    if (this.run.time[frame] > time) frame = 0;
    while (frame + 1 < this.run.nframe && this.run.time[frame + 1] <= time) frame++;
    return frame;
  }

  start() {
    const tick = (now) => {
      if (this.stopped) return;
      this.tick(now);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  // ---- picking ----

  rayAt(x, y) {
    const box = this.canvas.getBoundingClientRect();
    const raycaster = new THREE.Raycaster();
    raycaster.setFromCamera(new THREE.Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height), this.stage.camera);
    return raycaster;
  }

  find(x, y) {
    const raycaster = this.rayAt(x, y);
    const hits = this.views.map((view, k) => view.group.visible && { ...view.pick(raycaster, this.options.cut && this.options.plane), view, k });
    return hits.filter((hit) => hit && hit.node !== undefined).sort((a, b) => a.distance - b.distance)[0] || null;
  }

  pick(x, y) {
    const hit = this.find(x, y);
    if (!hit) return null;
    const same = this.picks.findIndex((pick) => pick.node === hit.node && pick.k === hit.k);
    if (same >= 0) this.picks.splice(same, 1);
    else {
      this.picks.push({ node: hit.node, k: hit.k, owner: hit.owner });
      if (this.picks.length > MOST_PICKS) this.picks.shift();
    }
    this.makeMarks();
    this.tell('pick');
    return hit;
  }

  clearPicks() {
    this.picks = [];
    this.makeMarks();
    this.tell('pick');
  }

  makeMarks() {
    this.pickMarks.clear();
    this.picks.forEach((_, k) => {
      const mark = new THREE.Mesh(new THREE.SphereGeometry(0.011 * this.run.size, 20, 14), new THREE.MeshBasicMaterial({ color: LINES[k], depthTest: false, transparent: true }));
      mark.renderOrder = 9;
      this.pickMarks.add(mark);
    });
    this.placeMarks();
    this.stage.changed();
  }

  placeMarks() {
    this.picks.forEach((pick, k) => {
      const view = this.views[pick.k];
      this.pickMarks.children[k]?.position.set(...view.points.subarray(3 * pick.node, 3 * pick.node + 3)).add(view.group.position);
    });
  }

  // What is known of a picked node, by name.
  facts(pick) {
    const { run, frame, points } = this.views[pick.k];
    const { header } = run;
    const at = points.subarray(3 * pick.node, 3 * pick.node + 3);
    const rest = run.rest.subarray(3 * pick.node, 3 * pick.node + 3);
    const names = [...header.bodies, ...header.obstacles];
    const facts = [['of', names[pick.owner]?.name || 'a body', ''], ['node', run.node[pick.node], '']];
    'xyz'.split('').forEach((axis, a) => facts.push([axis, at[a], 'm']));
    facts.push(['displacement', Math.hypot(at[0] - rest[0], at[1] - rest[1], at[2] - rest[2]), 'm']);
    if (pick.owner < header.bodies.length) header.fields.forEach((field, k) => facts.push([field.title, run.fieldAt(k, frame, pick.node), field.unit]));
    return facts;
  }

  // A picked node's number over time: 'x', 'y', 'z', 'displacement' or a field.
  series(pick, name) {
    const { run } = this.views[pick.k];
    const y = new Float64Array(run.nframe);
    const axis = 'xyz'.indexOf(name);
    const field = run.fieldIndex(name);
    const rest = run.rest.subarray(3 * pick.node, 3 * pick.node + 3);
    for (let k = 0; k < run.nframe; k++) {
      if (field >= 0) y[k] = run.fieldAt(field, k, pick.node);
      else {
        const at = run.point(pick.node, k);
        y[k] = axis >= 0 ? at[axis] : Math.hypot(at[0] - rest[0], at[1] - rest[1], at[2] - rest[2]);
      }
    }
    return { x: run.time, y };
  }

  // ---- links and pictures ----

  openLink(hash) {
    const wanted = link.read(hash);
    if (wanted.eye && wanted.target) {
      this.stage.linked = true;
      this.stage.camera.position.set(...wanted.eye);
      this.stage.controls.target.set(...wanted.target);
      this.stage.controls.update();
    }
    if (wanted.color && this.run.colors.some((color) => color.name === wanted.color)) this.options.color = wanted.color;
    for (const name of wanted.flags) this.options[name] = true;
    this.applyOptions();
    if (wanted.time !== null) this.seekTime(wanted.time);
    else this.refresh();
    this.tell('options');
  }

  linkText() {
    return link.write(this);
  }

  save(blob, ending) {
    const anchor = document.createElement('a');
    anchor.href = URL.createObjectURL(blob);
    anchor.download = `${(this.run.header.title || 'cuttle').replace(/[^\w.-]+/g, '_')}${ending}`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
  }

  screenshot() {
    this.stage.changed();
    this.stage.draw();
    this.stage.draw(Infinity);
    return new Promise((resolve) => {
      this.canvas.toBlob((blob) => {
        this.save(blob, '.png');
        resolve(blob);
      }, 'image/png');
    });
  }

  // Plays the motion once from its start and keeps what the canvas shows.
  record() {
    if (this.recording) {
      this.recording.stop();
      return null;
    }
    const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find((t) => window.MediaRecorder?.isTypeSupported(t));
    if (!type) {
      this.tell('This browser cannot record.');
      return null;
    }
    const recorder = new MediaRecorder(this.canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 12e6 });
    const pieces = [];
    this.recording = recorder;
    const done = new Promise((resolve) => {
      recorder.ondataavailable = (event) => pieces.push(event.data);
      recorder.onstop = () => {
        this.recording = null;
        const blob = new Blob(pieces, { type: 'video/webm' });
        this.save(blob, '.webm');
        this.tell('record');
        resolve(blob);
      };
    });
    recorder.start(500);
    if (!this.live) this.seek(0);
    this.play(true);
    this.on((what) => {
      if (what === 'play' && !this.playing && this.recording === recorder) setTimeout(() => recorder.state === 'recording' && recorder.stop(), 150);
    });
    this.tell('record');
    return done;
  }

  // ---- pointer ----

  // A press that does not move is a pick; on a live page a press on a body drags it.
  listen() {
    let down = null;
    this.canvas.addEventListener('pointerdown', (event) => {
      down = { x: event.clientX, y: event.clientY, time: performance.now() };
      if (this.live && event.button === 0 && event.isPrimary) this.live.grab(event);
    }, true);
    this.canvas.addEventListener('pointermove', (event) => this.live?.drag(event));
    this.canvas.addEventListener('pointerup', (event) => {
      this.live?.release();
      if (!down || event.button !== 0) return;
      const still = Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4 && performance.now() - down.time < 600;
      down = null;
      if (still) this.pick(event.clientX, event.clientY);
    });
    this.canvas.addEventListener('pointercancel', () => this.live?.release());
    this.canvas.addEventListener('dblclick', () => this.clearPicks());
  }
}
