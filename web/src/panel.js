// Everything around the scene: title, tools, options, colour bar, picked nodes, curves, and the time line.
import { CONTACT_COLORS } from './parts.js';
import { cssGradient, quantity } from './colors.js';
import { ICONS, button, element, select, slider, toggle } from './dom.js';
import { LINES, Plot } from './plot.js';

const HELP = [
  ['drag', 'turn'], ['scroll, pinch', 'zoom'], ['right-drag, two fingers', 'pan'], ['click', 'pick a node'], ['double-click', 'forget the picked nodes'],
  ['space', 'play or pause'], ['← →', 'one frame; with shift ten'], ['home, end', 'first and last frame'], ['[ ]', 'slower, faster'],
  ['1 … 9', 'colour'], ['w', 'wireframe'], ['x', 'cut'], ['c', 'contact forces'], ['b', 'bones'], ['m', 'muscles'], ['g', 'ground'], ['f', 'whole scene in view'],
  ['v', 'curves'], ['o', 'options'], ['p', 'picture'], ['r', 'record a movie'], ['l', 'copy the link'], ['d', 'dark or light'], ['?', 'this help'],
];
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

export class Panel {
  constructor(app, root) {
    this.app = app;
    this.root = root;
    const { header } = app.run;
    document.title = header.title;
    root.append(this.makeTitle(header), this.makeTools(), this.makeOptions(header), this.makeBar(), this.makeSide(), this.makeTimeline(), this.makeHelp(), this.makeToast());
    this.setTheme(window.matchMedia?.('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    if (window.innerWidth < 720) this.options.hidden = true;
    app.on((what) => this.update(what));
    document.addEventListener('keydown', (event) => this.key(event));
    window.addEventListener('resize', () => this.drawPlots());
    this.makePlots();
    this.update('options');
    this.update('frame');
  }

  // ---- pieces ----

  makeTitle(header) {
    const nodes = `${header.all_nodes.toLocaleString('en')} nodes`;
    const tets = header.all_tets ? `, ${header.all_tets.toLocaleString('en')} tets` : `, ${(this.app.run.triangle.length / 3).toLocaleString('en')} triangles`;
    const frames = header.live ? ', live' : `, ${header.frames.toLocaleString('en')} frames`;
    const other = this.app.runs[1] ? ` and ${this.app.runs[1].header.title}` : '';
    return element('header', { class: 'title' }, element('h1', {}, header.title + other), element('p', {}, nodes + tets + frames),
      ...header.missing.map((sentence) => element('p', { class: 'missing' }, sentence)));
  }

  makeTools() {
    const { app } = this;
    const tools = element('nav', { class: 'tools glass', 'aria-label': 'Tools' });
    tools.append(
      button('Options (o)', ICONS.panel, () => this.toggleOptions()),
      button('Curves (v)', ICONS.curves, () => this.toggleSide()),
      button('Whole scene in view (f)', ICONS.home, () => this.homeView()),
      button('Picture (p)', ICONS.camera, () => app.screenshot()),
      this.recordButton = button('Record a movie (r)', ICONS.film, () => app.record()),
      button('Copy a link to this view (l)', ICONS.link, () => this.copyLink()),
      button('Dark or light (d)', ICONS.theme, () => this.setTheme(app.stage.theme === 'dark' ? 'light' : 'dark')),
      button('Help (?)', ICONS.help, () => this.toggleHelp()),
    );
    return tools;
  }

  makeOptions(header) {
    const { app } = this;
    const { options } = app;
    this.controls = {};
    const add = (name, control) => {
      this.controls[name] = control;
      return control;
    };
    const switches = [['wireframe', 'Wireframe', true], ['ground', 'Ground', true], ['bones', 'Bones', header.links.length], ['muscles', 'Muscles', header.segments.length],
      ['chambers', 'Chambers', app.run.chamberTriangle.length], ['contacts', 'Contact forces', header.contact]];
    this.options = element('section', { class: 'options glass', 'aria-label': 'Options' });
    this.options.append(select('Colour', app.run.colors.map((color) => [color.name, color.title]), options.color, (value) => app.set('color', value)));
    this.controls.color = this.options.lastChild;
    for (const [name, label, there] of switches) {
      if (there) this.options.append(add(name, toggle(label, options[name], (value) => app.set(name, value))));
    }
    if (header.contact) {
      this.options.append(this.contactKey = element('p', { class: 'key' }, ...['sticks', 'slips'].map((text, k) => {
        const item = element('span', {}, text);
        item.style.setProperty('--line', CONTACT_COLORS[k]);
        return item;
      })));
    }
    if (app.run.triangle.length) this.options.append(add('opacity', slider('Flesh', { min: 0, max: 1, step: 0.05, value: options.opacity, text: (v) => `${Math.round(100 * v)} %`, onchange: (v) => app.set('opacity', v) })));
    this.options.append(add('cut', toggle('Cut', options.cut, (value) => app.set('cut', value))));
    this.cutBox = element('div', { class: 'cut' },
      select('Across', [['0', 'x'], ['1', 'y'], ['2', 'z']], String(options.cutAxis), (value) => app.set('cutAxis', Number(value))),
      slider('At', { min: 0, max: 1, step: 0.005, value: options.cutAt, text: (v) => `${Math.round(100 * v)} %`, onchange: (v) => app.set('cutAt', v) }));
    if (!app.run.tet.length && header.all_tets) this.cutBox.append(element('p', { class: 'note' }, 'Hollow: cuttle view --interior shows what is inside.'));
    this.options.append(this.cutBox);
    if (app.runs[1]) this.options.append(select('Second run', [['side', 'beside'], ['ghost', 'as a ghost'], ['off', 'hidden']], options.compare, (value) => app.set('compare', value)));
    this.liveBox = element('div', { class: 'live' });
    this.options.append(this.liveBox);
    return this.options;
  }

  makeBar() {
    this.bar = element('figure', { class: 'bar glass', 'aria-label': 'Colour bar' });
    const ramp = element('div', { class: 'ramp' });
    ramp.style.background = cssGradient('to right');
    this.barTitle = element('figcaption', {});
    this.barLow = element('span', {});
    this.barHigh = element('span', {});
    this.bar.append(this.barTitle, ramp, element('div', { class: 'ends' }, this.barLow, this.barHigh));
    return this.bar;
  }

  makeSide() {
    this.side = element('aside', { class: 'side glass', 'aria-label': 'Curves and picked nodes' });
    this.facts = element('div', { class: 'facts', 'aria-live': 'polite' });
    this.plotBox = element('div', { class: 'plots' });
    this.side.append(this.facts, this.plotBox);
    this.side.hidden = true;
    return this.side;
  }

  makeTimeline() {
    const { app } = this;
    this.playButton = button('Play (space)', ICONS.play, () => app.play(), { class: 'play' });
    this.scrub = element('input', { type: 'range', min: 0, max: Math.max(0, app.run.nframe - 1), step: 1, value: 0, 'aria-label': 'Frame', oninput: () => {
      const frame = Number(this.scrub.value);
      app.play(false);
      app.seek(frame);
    } });
    this.clock = element('output', { class: 'clock', 'aria-live': 'off' });
    this.speed = select('Speed', SPEEDS.map((speed) => [String(speed), `${speed}×`]), '1', (value) => { app.speed = Number(value); });
    this.timeline = element('footer', { class: 'timeline glass', 'aria-label': 'Time' },
      button('One frame back (left arrow)', ICONS.back, () => app.step(-1)), this.playButton, button('One frame forward (right arrow)', ICONS.forward, () => app.step(1)),
      this.scrub, this.clock, this.speed);
    return this.timeline;
  }

  makeHelp() {
    const list = element('dl', {});
    for (const [keys, text] of HELP) list.append(element('dt', {}, keys), element('dd', {}, text));
    this.help = element('dialog', { class: 'help glass', 'aria-label': 'Help' }, element('h2', {}, 'Keys'), list,
      element('form', { method: 'dialog' }, element('button', { type: 'submit' }, 'Close')));
    return this.help;
  }

  makeToast() {
    this.toast = element('p', { class: 'toast glass', role: 'status' });
    this.toast.hidden = true;
    return this.toast;
  }

  say(text, seconds = 2.5) {
    this.toast.textContent = text;
    this.toast.hidden = !text;
    clearTimeout(this.toastTimer);
    if (seconds) this.toastTimer = setTimeout(() => { this.toast.hidden = true; }, 1000 * seconds);
  }

  // ---- curves ----

  makePlots() {
    const { app } = this;
    const groups = new Map();
    app.runs.forEach((run, r) => {
      for (const curve of run.curveList()) {
        if (!groups.has(curve.group)) groups.set(curve.group, []);
        groups.get(curve.group).push({ ...curve, run, name: r ? `${curve.name} (second)` : curve.name });
      }
    });
    this.plots = [];
    this.plotBox.textContent = '';
    for (const [group, curves] of groups) {
      const plot = new Plot(group, (time) => this.seekTo(time));
      plot.fill = () => plot.set(curves.map((curve) => {
        const y = new Float64Array(curve.run.nframe);
        for (let k = 0; k < y.length; k++) y[k] = curve.value(k);
        return { name: curve.name, unit: curve.unit, x: curve.run.time, y };
      }));
      plot.fill();
      this.plots.push(plot);
      this.plotBox.append(plot.element);
    }
    this.pickPlot = new Plot('picked', (time) => this.seekTo(time));
    this.pickName = app.run.colors.length > 2 ? app.run.colors[2].name : 'displacement';
  }

  seekTo(time) {
    this.app.play(false);
    this.app.seekTime(time);
  }

  drawPlots() {
    if (this.side.hidden) return;
    const time = this.app.time();
    if (this.app.live && performance.now() - (this.filled || 0) > 300) {
      this.filled = performance.now();
      for (const plot of this.plots) plot.fill();
      if (this.app.picks.length) this.fillPick();
    }
    for (const plot of this.plots) plot.draw(time);
    if (this.app.picks.length) this.pickPlot.draw(time);
  }

  fillPick() {
    const { app } = this;
    const color = app.run.colors.find((c) => c.name === this.pickName);
    const unit = color ? color.unit : 'm';
    this.pickPlot.title = color ? color.title : this.pickName;
    this.pickPlot.set(app.picks.map((pick) => ({ name: `node ${app.views[pick.k].run.node[pick.node]}`, unit, ...app.series(pick, this.pickName) })));
  }

  showPicks() {
    const { app } = this;
    this.facts.textContent = '';
    if (!app.picks.length) return;
    this.side.hidden = false;
    const choices = [['x', 'x'], ['y', 'y'], ['z', 'z'], ...app.run.colors.slice(1).map((color) => [color.name, color.title])];
    this.factRows = app.picks.map((pick, k) => {
      const list = element('dl', {});
      list.style.setProperty('--line', LINES[k]);
      this.facts.append(list);
      return list;
    });
    this.facts.append(select('Plot', choices, this.pickName, (value) => {
      this.pickName = value;
      this.fillPick();
      this.drawPlots();
    }), this.pickPlot.element);
    this.fillPick();
    this.fillFacts();
  }

  fillFacts() {
    this.app.picks.forEach((pick, k) => {
      const list = this.factRows[k];
      list.textContent = '';
      for (const [name, value, unit] of this.app.facts(pick)) {
        const text = typeof value === 'string' ? value : name === 'node' ? String(value) : quantity(value, unit, 4);
        list.append(element('dt', {}, name), element('dd', {}, text));
      }
    });
  }

  // ---- changes ----

  update(what) {
    if (what === 'frame') this.updateFrame();
    else if (what === 'play') this.updatePlay();
    else if (what === 'options') this.updateOptions();
    else if (what === 'pick') {
      this.showPicks();
      this.drawPlots();
    } else if (what === 'record') this.recordButton.classList.toggle('on', Boolean(this.app.recording));
    else if (what === 'reload') {
      this.makePlots();
      this.updateOptions();
    } else this.say(what);
  }

  updateFrame() {
    const { app } = this;
    const time = app.time();
    this.scrub.max = Math.max(0, app.run.nframe - 1);
    this.scrub.value = app.frame;
    const text = `${time.toFixed(time < 10 ? 3 : 2)} s`;
    this.clock.textContent = text;
    this.scrub.setAttribute('aria-valuetext', `${text}, frame ${app.frame + 1} of ${app.run.nframe}`);
    if (app.run.header.live) this.updateBar();
    if (app.picks.length && !this.side.hidden) this.fillFacts();
    this.drawPlots();
  }

  updatePlay() {
    this.playButton.innerHTML = this.app.playing ? ICONS.pause : ICONS.play;
    const label = this.app.playing ? 'Pause (space)' : 'Play (space)';
    this.playButton.setAttribute('aria-label', label);
    this.playButton.title = label;
  }

  updateOptions() {
    const { options } = this.app;
    this.controls.color.input.value = options.color;
    for (const name of ['wireframe', 'ground', 'bones', 'muscles', 'chambers', 'contacts', 'cut']) {
      if (this.controls[name]) this.controls[name].input.checked = options[name];
    }
    this.controls.opacity?.set(options.opacity);
    this.cutBox.hidden = !options.cut;
    if (this.contactKey) this.contactKey.hidden = !options.contacts;
    this.updateBar();
  }

  updateBar() {
    const { app } = this;
    const [view] = app.views;
    const color = app.run.colors.find((c) => c.name === app.options.color);
    this.bar.hidden = !view.painted || app.options.color === 'body';
    if (this.bar.hidden) return;
    this.barTitle.textContent = color.title;
    this.barLow.textContent = quantity(view.range[0], color.unit);
    this.barHigh.textContent = quantity(view.range[1], color.unit);
  }

  // ---- tools ----

  setTheme(name) {
    document.documentElement.dataset.theme = name;
    this.app.stage.setTheme(name);
    this.drawPlots?.call(this);
  }

  toggleOptions() {
    this.options.hidden = !this.options.hidden;
  }

  toggleSide() {
    this.side.hidden = !this.side.hidden;
    if (!this.side.hidden && !this.plots.length && !this.app.picks.length) this.say('This page has no curves; click a node to plot its numbers.', 4);
    this.drawPlots();
  }

  toggleHelp() {
    if (this.help.open) this.help.close();
    else this.help.showModal();
  }

  homeView() {
    const { stage } = this.app;
    stage.linked = false;
    if (this.app.runs[1]) this.app.place();
    else stage.home(stage.given);
  }

  async copyLink() {
    const hash = this.app.linkText();
    try {
      window.history.replaceState(null, '', hash);
      await navigator.clipboard.writeText(window.location.href);
      this.say('Link copied.');
    } catch {
      this.say('The link is in the address bar.');
    }
  }

  changeSpeed(by) {
    const { app } = this;
    const at = SPEEDS.indexOf(app.speed);
    app.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at + by))];
    this.speed.input.value = String(app.speed);
    this.say(`${app.speed}×`, 1);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const { app } = this;
    const { options } = app;
    const onRange = event.target.type === 'range' && event.target !== this.scrub;
    const flip = (name) => this.controls[name] && app.set(name, !options[name]);
    const by = event.shiftKey ? 10 : 1;
    const actions = {
      ' ': () => app.play(), ArrowLeft: () => app.step(-by), ArrowRight: () => app.step(by), Home: () => app.step(-1e9), End: () => app.step(1e9),
      '[': () => this.changeSpeed(-1), ']': () => this.changeSpeed(1), w: () => flip('wireframe'), x: () => flip('cut'), c: () => flip('contacts'), b: () => flip('bones'),
      m: () => flip('muscles'), g: () => flip('ground'), f: () => this.homeView(), v: () => this.toggleSide(), o: () => this.toggleOptions(), p: () => app.screenshot(),
      r: () => app.record(), l: () => this.copyLink(), d: () => this.setTheme(app.stage.theme === 'dark' ? 'light' : 'dark'), '?': () => this.toggleHelp(),
    };
    const color = app.run.colors[Number(event.key) - 1];
    if (color) app.set('color', color.name);
    else if (actions[event.key] && !(onRange && /Arrow|Home|End/.test(event.key)) && !(event.key === ' ' && /^(BUTTON|INPUT)$/.test(event.target.tagName) && event.target !== this.scrub)) actions[event.key]();
    else return;
    event.preventDefault();
  }
}
