// Colours of fields: from violet to red for amounts, and numbers with the prefixes of SI.

// sRGB, evenly spaced.
const MAP = [
  [0.31, 0.21, 0.53], [0.27, 0.32, 0.67], [0.22, 0.47, 0.75], [0.14, 0.63, 0.7], [0.22, 0.76, 0.55],
  [0.53, 0.85, 0.35], [0.85, 0.86, 0.23], [0.99, 0.71, 0.2], [0.95, 0.45, 0.15], [0.76, 0.17, 0.1],
];

export function colorAt(t) {
  const at = Math.min(1, Math.max(0, t)) * (MAP.length - 1);
  const k = Math.min(MAP.length - 2, Math.floor(at));
  return MAP[k].map((c, a) => c + (at - k) * (MAP[k + 1][a] - c));
}

export const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);

// 256 linear colours, for vertices.
export const TABLE = new Float32Array(3 * 256);
for (let q = 0; q < 256; q++) colorAt(q / 255).forEach((c, a) => { TABLE[3 * q + a] = linear(c); });

export function cssGradient(direction) {
  const stops = [];
  for (let k = 0; k <= 16; k++) stops.push(`rgb(${colorAt(k / 16).map((c) => Math.round(255 * c)).join(' ')})`);
  return `linear-gradient(${direction}, ${stops.join(', ')})`;
}

const PREFIX = { '-9': 'n', '-6': 'µ', '-3': 'm', 0: '', 3: 'k', 6: 'M', 9: 'G' };

// "1.23 kPa"; units that are squares or bare numbers take no prefix.
export function quantity(value, unit = '', digits = 3) {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return unit ? `0 ${unit}` : '0';
  const size = Math.abs(value);
  if (unit && size < 1e-12) return `${value.toExponential(digits - 1)} ${unit}`;
  let power = 0;
  if (unit && !/^m[³²]|kg/.test(unit)) power = Math.min(9, Math.max(-9, 3 * Math.floor(Math.log10(size * 1.0000001) / 3)));
  const scaled = value / 10 ** power;
  const text = Math.abs(scaled) >= 1e4 || Math.abs(scaled) < 1e-3 ? scaled.toExponential(digits - 1) : String(+scaled.toPrecision(digits));
  return unit ? `${text} ${PREFIX[power]}${unit}` : text;
}
