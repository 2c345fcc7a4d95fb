// A motion: what does not change, and the numbers of each frame, whether they were recorded or come in live.
import { decodePoints, decodeValues } from './data.js';

const CONTACT = 7; // numbers of a contact: place, force, 1 sticks or 2 slips

class Run {
  constructor({ header, array }) {
    this.header = header;
    this.nnode = header.nodes;
    this.rest = array('rest');
    this.node = array('node');
    this.triangle = array('triangle');
    this.owner = array('owner');
    this.tet = array('tet');
    this.tetBody = array('tet_body');
    this.chamberTriangle = array('chamber_triangle');
    this.boneLink = array('bone_link');
    this.boneShape = array('bone_shape');
    this.jointPlace = array('joint_place');
    this.size = Math.max(...header.upper.map((u, a) => u - header.lower[a]), 1e-9);
    this.colors = [{ name: 'body', title: 'body' }, { name: 'displacement', title: 'displacement', unit: 'm' }, ...header.fields];
  }

  fieldIndex(name) {
    return this.header.fields.findIndex((field) => field.name === name);
  }

  // A colour's numbers at the shown nodes.
  values(name, frame, out, points) {
    if (name === 'displacement') {
      for (let i = 0; i < this.nnode; i++) {
        out[i] = Math.hypot(points[3 * i] - this.rest[3 * i], points[3 * i + 1] - this.rest[3 * i + 1], points[3 * i + 2] - this.rest[3 * i + 2]);
      }
    } else this.field(this.fieldIndex(name), frame, out);
    return out;
  }

  frameAt(time) {
    let low = 0;
    let high = this.nframe - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.time[middle] <= time) low = middle;
      else high = middle;
    }
    return time - this.time[low] <= this.time[high] - time ? low : high;
  }

  // The curves of the header, and those of what the frames have anyway.
  curveList() {
    const list = this.header.curves.map((curve, k) => ({ ...curve, value: (frame) => this.curve(k, frame) }))
      .filter((curve) => curve.group !== 'controls' || !this.search); // those of a search are not known here
    this.header.cavities.forEach((name, k) => {
      list.push({ group: 'pressure', name, unit: 'Pa', value: (frame) => this.row('cavities', frame)[2 * k + 1] });
      list.push({ group: 'volume', name, unit: 'm³', value: (frame) => this.row('cavities', frame)[2 * k] });
    });
    this.header.cables.forEach((cable) => {
      list.push({ group: 'tension', name: cable.name, unit: 'N', value: (frame) => this.row('cables', frame)[4 * cable.first + 3] });
    });
    return list;
  }
}

export class RecordedRun extends Run {
  constructor(data) {
    super(data);
    const { header, array } = data;
    this.nframe = header.frames;
    this.time = array('time');
    this.step = array('step');
    this.q = decodePoints(array('x_low'), array('x_high'), this.nframe, 3 * this.nnode);
    this.nend = 2 * header.segments.length;
    this.qEnds = decodePoints(array('ends_low'), array('ends_high'), this.nframe, 3 * this.nend);
    this.levels = header.fields.map((_, k) => decodeValues(array(`field${k}`), this.nframe, this.nnode));
    this.tables = header.fields.map((field) => {
      const table = new Float32Array(header.levels + 1);
      for (let q = 0; q <= header.levels; q++) table[q] = field.low + (field.high - field.low) * (q / header.levels) ** field.power;
      return table;
    });
    this.grid = [0, 1, 2].map((a) => (header.high[a] - header.low[a]) / 65535);
    this.endGrid = [0, 1, 2].map((a) => (header.high[a] - header.low[a]) / 4095);
    this.rows = { activation: Float32Array.from(decodeValues(array('activation'), this.nframe, header.segments.length), (q) => q / header.levels) };
    for (const name of ['poses', 'obstacles', 'cables', 'cavities', 'chambers', 'curves']) this.rows[name] = array(name);
    this.contact = array('contact');
    this.contactStart = [0];
    array('contact_count').forEach((count) => this.contactStart.push(this.contactStart[this.contactStart.length - 1] + count));
  }

  // Places of a frame from what was decoded: x y z of each.
  unfold(q, n, frame, grid, out) {
    const { low } = this.header;
    for (let a = 0; a < 3; a++) {
      for (let i = 0, k = (3 * frame + a) * n; i < n; i++, k++) out[3 * i + a] = low[a] + grid[a] * q[k];
    }
    return out;
  }

  points(frame, out) {
    return this.unfold(this.q, this.nnode, frame, this.grid, out);
  }

  ends(frame) {
    return this.unfold(this.qEnds, this.nend, frame, this.endGrid, new Float32Array(3 * this.nend));
  }

  // One node at one frame.
  point(node, frame) {
    return [0, 1, 2].map((a) => this.header.low[a] + this.grid[a] * this.q[3 * this.nnode * frame + a * this.nnode + node]);
  }

  field(index, frame, out) {
    const levels = this.levels[index];
    const table = this.tables[index];
    for (let i = 0, k = frame * this.nnode; i < this.nnode; i++, k++) out[i] = table[levels[k]];
    return out;
  }

  fieldAt(index, frame, node) {
    return this.tables[index][this.levels[index][frame * this.nnode + node]];
  }

  row(name, frame) {
    const all = this.rows[name];
    const width = all.length / this.nframe;
    return all.subarray(width * frame, width * (frame + 1));
  }

  curve(index, frame) {
    return this.rows.curves[frame * this.header.curves.length + index];
  }

  contacts(frame) {
    return this.contact.subarray(CONTACT * this.contactStart[frame], CONTACT * this.contactStart[frame + 1]);
  }

  scale(name) {
    if (name === 'displacement') return this.displacementScale();
    return this.header.fields[this.fieldIndex(name)].scale;
  }

  displacementScale() {
    if (this.displacement) return this.displacement;
    const points = new Float32Array(3 * this.nnode);
    const values = new Float32Array(this.nnode);
    let high = 1e-12;
    for (let k = 0; k < 24; k++) {
      const frame = Math.round((k * (this.nframe - 1)) / 23);
      this.values('displacement', frame, values, this.points(frame, points));
      for (const value of values) high = Math.max(high, value);
    }
    this.displacement = [0, high];
    return this.displacement;
  }
}

// Frames as they arrive (src/out/page_live.c); the last ones are kept, so that one can look back.
export class LiveRun extends Run {
  constructor(data) {
    super(data);
    const { header } = this;
    const n = this.nnode;
    const eyelets = header.cables.reduce((sum, cable) => sum + cable.count, 0);
    this.layout = {};
    let at = 0;
    const part = (name, count) => {
      this.layout[name] = [at, at + count];
      at += count;
    };
    part('x', 3 * n);
    header.fields.forEach((_, k) => part(`field${k}`, n));
    part('poses', 12 * header.links.length);
    part('obstacles', 6 * header.obstacles.length);
    part('cables', 4 * eyelets);
    part('cavities', 2 * header.cavities.length);
    part('ends', 6 * header.segments.length);
    part('activation', header.segments.length);
    part('chambers', this.chamberTriangle.length / 3);
    part('curves', header.curves.length);
    this.length = at;
    this.most = Math.max(2, Math.min(2000, Math.floor(64e6 / (4 * at + 64))));
    this.scales = {};
    this.clear();
  }

  clear() {
    this.frames = [];
    this.time = [];
    this.step = [];
  }

  get nframe() {
    return this.frames.length;
  }

  add(buffer) {
    const head = new Float64Array(buffer, 0, 2);
    if (this.nframe && head[1] <= this.step[this.nframe - 1]) this.clear();
    if (this.nframe >= this.most) {
      this.frames.shift();
      this.time.shift();
      this.step.shift();
    }
    this.time.push(head[0]);
    this.step.push(head[1]);
    this.frames.push(new Float32Array(buffer, 16));
  }

  row(name, frame) {
    const [from, to] = this.layout[name];
    return this.frames[frame].subarray(from, to);
  }

  points(frame, out) {
    out.set(this.row('x', frame));
    return out;
  }

  ends(frame) {
    return this.row('ends', frame);
  }

  point(node, frame) {
    return Array.from(this.row('x', frame).subarray(3 * node, 3 * node + 3));
  }

  field(index, frame, out) {
    out.set(this.row(`field${index}`, frame));
    return out;
  }

  fieldAt(index, frame, node) {
    return this.row(`field${index}`, frame)[node];
  }

  curve(index, frame) {
    return this.row('curves', frame)[index];
  }

  contacts(frame) {
    return this.frames[frame].subarray(this.length);
  }

  // Grows with what has been seen.
  scale(name) {
    if (!this.scales[name]) this.scales[name] = [0, 1e-12];
    return this.scales[name];
  }
}
