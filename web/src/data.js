// The data of a page: base64 and deflate around a JSON header and arrays, as src/out/page_header.h lays them out.

const TYPES = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u8: Uint8Array };

export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}

// {header, array(name)}: typed arrays are views of the buffer, empty where there is none.
export function parse(buffer) {
  const view = new DataView(buffer);
  if (view.getUint32(0, false) !== 0x43545047) throw new Error('this is not the data of a Cuttle page');
  const length = view.getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const start = Math.ceil((8 + length) / 8) * 8;
  const array = (name) => {
    const entry = header.arrays[name];
    if (!entry) return new Float32Array(0);
    const Type = TYPES[entry.type];
    return new Type(buffer, start + entry.offset, entry.bytes / Type.BYTES_PER_ELEMENT);
  };
  return { header, array };
}

// Positions back from their residuals: nframe x (x of all nodes, y, z), 16 bits each. See src/out/page_code.h.
export function decodePoints(low, high, nframe, count) {
  const out = new Uint16Array(nframe * count);
  for (let k = 0; k < nframe; k++) {
    const to = k * count;
    let neighbour = 0;
    for (let i = 0; i < count; i++) {
      const folded = low[to + i] | (high[to + i] << 8);
      const r = (folded >>> 1) ^ -(folded & 1);
      let expected = neighbour;
      if (k === 1) expected = out[i];
      else if (k > 1) expected = 2 * out[to - count + i] - out[to - 2 * count + i];
      neighbour = out[to + i] = (expected + r) & 0xffff;
    }
  }
  return out;
}

// Colours back from their residuals, nframe x count levels, in place.
export function decodeValues(bytes, nframe, count) {
  for (let k = 0; k < nframe; k++) {
    const to = k * count;
    let neighbour = 0;
    for (let i = 0; i < count; i++) {
      const expected = k ? bytes[to - count + i] : neighbour;
      neighbour = bytes[to + i] = (expected + bytes[to + i]) & 0xff;
    }
  }
  return bytes;
}
