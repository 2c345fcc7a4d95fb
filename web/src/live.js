// A scene that is being simulated: frames come in, what the user does goes out. The server is cli/server.c.
import { App } from './app.js';
import { inflate, parse } from './data.js';
import { button, element, slider, ICONS } from './dom.js';
import { Panel } from './panel.js';
import { Plot } from './plot.js';
import { quantity } from './colors.js';
import { LiveRun } from './run.js';
import * as THREE from 'three';

const [START, FRAME, MOTION] = [0, 2, 4]; // as server_topic

class Live {
  constructor(canvas, ui) {
    this.canvas = canvas;
    this.ui = ui;
    this.writer = false;
    this.state = { paused: false, problem: '', sliders: [] };
    this.problem = element('p', { class: 'error glass', role: 'alert' });
    this.problem.hidden = true;
    this.received = 0;
    this.ready = new Promise((resolve) => { this.onReady = resolve; });
    this.queue = Promise.resolve();
  }

  connect() {
    const address = new URL('ws', window.location.href);
    address.protocol = 'ws:';
    this.socket = new WebSocket(address, 'cuttle');
    this.socket.binaryType = 'arraybuffer';
    this.socket.onmessage = ({ data }) => { this.queue = this.queue.then(() => this.receive(data)).catch((error) => console.error(error)); };
    this.socket.onclose = () => {
      if (this.ended) this.searchNote.textContent += ` ${this.ended}`;
      else this.showProblem(this.searching ? 'The search was broken off.' : 'The simulation has ended.');
    };
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  async receive(data) {
    if (typeof data === 'string') this.hear(JSON.parse(data));
    else {
      const kind = new DataView(data).getUint32(0, true);
      const rest = data.slice(8);
      if (kind === START) this.restart(parse(await inflate(rest)));
      else if (kind === FRAME && this.app) this.addFrame(rest);
      else if (kind === MOTION && this.app) this.showMotion(rest);
    }
  }

  hear(message) {
    if (message.role) this.writer = message.role === 'writer';
    else if (message.search) {
      if (this.app) this.showSearch(message.search);
      return;
    } else {
      const sliders = JSON.stringify(message.sliders.map(({ title, low, high }) => [title, low, high]));
      this.state = message;
      if (sliders !== this.sliderKey) {
        this.sliderKey = sliders;
        this.makeControls();
      }
      if (message.problem || this.problem.textContent) this.showProblem(message.problem);
    }
    this.showState();
  }

  showProblem(text) {
    this.problem.textContent = text;
    this.problem.hidden = !text;
  }

  // A scene that was read, or read again: the view stays, everything else is new.
  restart(data) {
    const before = this.app;
    this.ui.textContent = '';
    const run = new LiveRun(data);
    if (before) {
      before.stopped = true;
      before.stage.controls.dispose();
      before.stage.renderer.dispose();
      const fresh = this.canvas.cloneNode();
      this.canvas.replaceWith(fresh);
      this.canvas = fresh;
    }
    this.app = new App([run], this.canvas);
    this.app.live = this;
    if (before) {
      const { stage } = this.app;
      stage.linked = true;
      stage.camera.position.copy(before.stage.camera.position);
      stage.controls.target.copy(before.stage.controls.target);
      for (const name of ['wireframe', 'contacts', 'ground', 'opacity']) this.app.options[name] = before.options[name];
      if (run.colors.some((color) => color.name === before.options.color)) this.app.options.color = before.options.color;
      this.app.applyOptions();
    }
    this.panel = new Panel(this.app, this.ui);
    this.ui.append(this.problem);
    this.app.play = (on = !this.app.playing) => this.send({ do: 'pause', on: !on });
    this.app.step = (by) => this.stepBy(by);
    this.sliderKey = '';
    this.makeControls();
    this.showState();
    this.app.start();
    this.onReady({ app: this.app, panel: this.panel, live: this });
  }

  // ---- a search ----

  // The loss over the evaluations; the motion is then played here.
  showSearch({ method, reason, seconds, iteration, loss, best }) {
    if (!this.searching) {
      this.searching = true;
      delete this.app.play;
      delete this.app.step;
      this.app.run.search = true;
      this.panel.makePlots();
      this.lossPlot = new Plot('loss', () => {});
      this.searchNote = element('p', { class: 'note', role: 'status' });
      this.panel.liveBox.textContent = '';
      this.panel.liveBox.append(element('h2', {}, 'Search'), this.searchNote, this.lossPlot.element);
    }
    const numbers = (list) => list.map((value) => value ?? NaN);
    const seen = numbers(best).filter(Number.isFinite);
    const log = seen.length > 1 && seen[seen.length - 1] > 0 && seen[0] > 30 * seen[seen.length - 1];
    const shown = (list) => numbers(list).map((value) => (log ? Math.log10(value) : value));
    this.lossPlot.title = log ? 'log₁₀ of the loss' : 'loss';
    this.lossPlot.set([{ name: 'evaluated', unit: '', x: iteration, y: shown(loss) }, { name: 'best', unit: '', x: iteration, y: shown(best) }]);
    this.lossPlot.draw(iteration[iteration.length - 1]);
    const count = iteration[iteration.length - 1] ?? 0;
    this.searchNote.textContent = `${method}: ${count} evaluations in ${seconds.toFixed(1)} s, best ${quantity(seen[seen.length - 1] ?? NaN, '', 5)}.`;
    if (reason) this.ended = `The search has ended: ${reason}.`;
    if (this.ended) this.panel.say(this.ended);
    this.search = { iteration, loss, best, reason };
  }

  // The best motion so far takes the place of the one before.
  showMotion(buffer) {
    const view = new DataView(buffer);
    const count = view.getUint32(0, true);
    let at = 8 + 8 * Math.ceil(count / 2);
    const { app } = this;
    const time = app.run.nframe ? app.time() : 0;
    app.run.clear();
    for (let k = 0; k < count; k++) {
      const size = view.getUint32(8 + 4 * k, true);
      app.run.add(buffer.slice(at, at + size));
      at += 8 * Math.ceil(size / 8);
    }
    app.seekTime(time);
    this.motions = (this.motions || 0) + 1;
    if (this.motions === 1) app.play(true);
  }

  // Back into what was seen; forward beyond it by a step of the simulation.
  stepBy(by) {
    if (!this.state.paused) this.send({ do: 'pause', on: true });
    if (by > 0 && this.app.frame === this.app.run.nframe - 1) this.send({ do: 'step' });
    else this.app.seek(this.app.frame + by);
  }

  addFrame(buffer) {
    const { app } = this;
    const last = app.frame >= app.run.nframe - 1;
    app.run.add(buffer);
    this.received++;
    if (last || !this.state.paused) app.seek(app.run.nframe - 1);
    else app.tell('frame');
  }

  makeControls() {
    if (!this.panel) return;
    const box = this.panel.liveBox;
    box.textContent = '';
    box.append(element('div', { class: 'row' }, button('Back to the start', ICONS.reset, () => this.send({ do: 'reset' })),
      this.role = element('span', { class: 'note' })));
    if (this.state.sliders.length) box.append(element('h2', {}, 'Change'));
    this.state.sliders.forEach(({ title, low, high, value }, index) => {
      box.append(slider(title, { min: low, max: high, value, onchange: (v) => this.send({ do: 'set', index, value: v }) }));
    });
  }

  showState() {
    if (!this.app || this.searching) return;
    this.app.playing = !this.state.paused;
    this.app.tell('play');
    if (this.role) this.role.textContent = this.writer ? 'Pull at a body with the mouse.' : 'Another window holds the controls.';
  }

  // ---- the hand ----

  grab(event) {
    const hit = this.app.find(event.clientX, event.clientY);
    if (!hit || hit.owner >= this.app.run.header.bodies.length || !this.writer || this.searching) return;
    const forward = new THREE.Vector3();
    this.app.stage.camera.getWorldDirection(forward);
    this.held = { node: hit.node, plane: new THREE.Plane().setFromNormalAndCoplanarPoint(forward, hit.point), pulled: false };
    this.app.stage.controls.enabled = false;
    this.app.canvas.setPointerCapture?.(event.pointerId);
  }

  drag(event) {
    if (!this.held) return;
    const to = this.app.rayAt(event.clientX, event.clientY).ray.intersectPlane(this.held.plane, new THREE.Vector3());
    if (to) this.send({ do: 'drag', node: this.held.node, to: to.toArray() });
    this.held.pulled = true;
  }

  release() {
    if (!this.held) return;
    if (this.held.pulled) this.send({ do: 'release' });
    this.held = null;
    this.app.stage.controls.enabled = true;
  }
}

export function startLive(_, canvas, ui) {
  const live = new Live(canvas, ui);
  live.connect();
  return live.ready;
}
