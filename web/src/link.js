// The part of the address behind #: camera, time and looks, so that a link shows what one sees.

const numbers = (list) => list.map((value) => Number(value.toPrecision(5))).join(',');

export function write(app) {
  const { stage, options } = app;
  const parts = {
    t: Number(app.time().toPrecision(6)),
    eye: numbers(stage.camera.position.toArray()),
    target: numbers(stage.controls.target.toArray()),
    color: options.color,
  };
  for (const name of ['wireframe', 'cut', 'contacts']) if (options[name]) parts[name] = 1;
  return `#${new URLSearchParams(parts)}`;
}

export function read(hash) {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const vector = (name) => {
    const list = (query.get(name) || '').split(',').map(Number);
    return list.length === 3 && list.every(Number.isFinite) ? list : null;
  };
  const time = query.has('t') ? Number(query.get('t')) : NaN;
  return {
    time: Number.isFinite(time) ? time : null,
    eye: vector('eye'),
    target: vector('target'),
    color: query.get('color'),
    flags: ['wireframe', 'cut', 'contacts'].filter((name) => query.get(name) === '1'),
  };
}
