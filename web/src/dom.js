// Small helpers to make elements: every control has a label that a screen reader can say.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'class') node.className = value;
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export function button(label, icon, onclick, attributes = {}) {
  const node = element('button', { type: 'button', 'aria-label': label, title: label, onclick, ...attributes });
  node.innerHTML = icon;
  return node;
}

export function toggle(label, value, onchange) {
  const input = element('input', { type: 'checkbox', onchange: () => onchange(input.checked) });
  input.checked = value;
  const node = element('label', { class: 'toggle' }, input, element('span', {}, label));
  node.input = input;
  return node;
}

export function slider(label, { min, max, step = 'any', value, onchange, text = (v) => v.toPrecision(3) }) {
  const shown = element('output', {}, text(value));
  const input = element('input', {
    type: 'range', min, max, step, 'aria-label': label,
    oninput: () => {
      shown.textContent = text(Number(input.value));
      input.setAttribute('aria-valuetext', shown.textContent);
      onchange(Number(input.value));
    },
  });
  input.value = value;
  const node = element('label', { class: 'slider' }, element('span', {}, label), input, shown);
  node.input = input;
  node.set = (v) => {
    input.value = v;
    shown.textContent = text(Number(v));
  };
  return node;
}

export function select(label, choices, value, onchange) {
  const input = element('select', { 'aria-label': label, onchange: () => onchange(input.value) });
  for (const [key, text] of choices) input.append(element('option', { value: key }, text));
  input.value = value;
  const node = element('label', { class: 'select' }, element('span', {}, label), input);
  node.input = input;
  return node;
}

const icon = (path) => `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${path}"/></svg>`;
export const ICONS = {
  play: icon('M7 4v16l13-8z'),
  pause: icon('M6 4h4v16H6zM14 4h4v16h-4z'),
  back: icon('M18 5v14l-9-7zM6 5h2v14H6z'),
  forward: icon('M6 5v14l9-7zM16 5h2v14h-2z'),
  home: icon('M12 4 3 11h2v9h5v-6h4v6h5v-9h2z'),
  camera: icon('M9 4 7.5 6H4v14h16V6h-3.500L15 4zM12 8.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9z'),
  film: icon('M4 5h12v4l4-3v12l-4-3v4H4z'),
  link: icon('M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1'),
  theme: icon('M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18'),
  curves: icon('M4 4v16h16M7 15l4-5 3 3 5-7'),
  panel: icon('M4 6h10M18 6h2M4 12h2M10 12h10M4 18h8M16 18h4M15 4v4M8 10v4M13 16v4'),
  help: icon('M9 9a3 3 0 1 1 4 3c-1 .6-1 1-1 2M12 17v1'),
  reset: icon('M5 5v5h5M5.500 10A8 8 0 1 1 4 14'),
};
