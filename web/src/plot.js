// Curves over time in a small canvas, with a cursor at the time that is shown.
import { quantity } from './colors.js';

export const LINES = ['#2f7ed8', '#e4572e', '#17a589', '#a35bd6', '#d9a400', '#c2185b', '#6b7c93', '#5c8a00'];

const BAND = 14; // px above and below the curves, for the labels

export class Plot {
  // onSeek(fraction of the time axis)
  constructor(title, onSeek) {
    this.element = document.createElement('figure');
    this.element.className = 'plot';
    this.caption = document.createElement('figcaption');
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.element.append(this.caption, this.canvas);
    this.title = title;
    this.curves = [];
    this.range = [0, 1];
    const seek = (event) => {
      if (event.type === 'pointermove' && !event.buttons) return;
      const box = this.canvas.getBoundingClientRect();
      const at = (event.clientX - box.left) / box.width;
      onSeek(this.range[0] + Math.min(1, Math.max(0, at)) * (this.range[1] - this.range[0]));
    };
    this.canvas.addEventListener('pointerdown', seek);
    this.canvas.addEventListener('pointermove', seek);
  }

  // curves: [{name, unit, x, y}], x and y arrays of one length.
  set(curves) {
    this.curves = curves;
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { x, y } of curves) {
      for (let i = 0; i < x.length; i++) {
        if (!Number.isFinite(y[i])) continue;
        x0 = Math.min(x0, x[i]);
        x1 = Math.max(x1, x[i]);
        y0 = Math.min(y0, y[i]);
        y1 = Math.max(y1, y[i]);
      }
    }
    if (!(x1 >= x0)) [x0, x1, y0, y1] = [0, 1, 0, 1];
    if (y1 - y0 < 1e-12 * Math.max(1e-12, Math.abs(y1))) y0 -= Math.max(0.5e-12, 0.1 * Math.abs(y0)), y1 += Math.max(0.5e-12, 0.1 * Math.abs(y1));
    this.range = [x0, x1 > x0 ? x1 : x0 + 1];
    this.span = [y0, y1];
    this.base = null;
  }

  draw(time) {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (!width || !this.span) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const style = getComputedStyle(this.element);
    if (!this.base || this.base.width !== width * ratio || this.tone !== style.color) this.drawBase(width, height, ratio, style);
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const context = this.canvas.getContext('2d');
    context.drawImage(this.base, 0, 0);
    context.scale(ratio, ratio);
    const x = ((time - this.range[0]) / (this.range[1] - this.range[0])) * width;
    context.strokeStyle = style.color;
    context.globalAlpha = 0.7;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
    this.describe(time);
  }

  drawBase(width, height, ratio, style) {
    this.base = document.createElement('canvas');
    this.base.width = width * ratio;
    this.base.height = height * ratio;
    this.tone = style.color;
    const context = this.base.getContext('2d');
    context.scale(ratio, ratio);
    const [y0, y1] = this.span;
    const toY = (y) => height - BAND - ((y - y0) / (y1 - y0)) * (height - 2 * BAND);
    context.fillStyle = context.strokeStyle = style.color;
    context.font = '10px system-ui, sans-serif';
    if (y0 < 0 && y1 > 0) {
      context.globalAlpha = 0.25;
      context.beginPath();
      context.moveTo(0, toY(0));
      context.lineTo(width, toY(0));
      context.stroke();
    }
    context.lineWidth = this.curves.length > 12 ? 0.8 : 1.6;
    context.lineJoin = 'round';
    this.curves.forEach(({ x, y }, k) => {
      context.strokeStyle = LINES[k % LINES.length];
      context.globalAlpha = this.curves.length > 12 ? 0.55 : 1;
      context.beginPath();
      for (let i = 0; i < x.length; i++) {
        const px = ((x[i] - this.range[0]) / (this.range[1] - this.range[0])) * width;
        if (Number.isFinite(y[i])) context.lineTo(px, toY(y[i]));
      }
      context.stroke();
    });
    context.globalAlpha = 0.75;
    context.textAlign = 'right';
    context.fillText(quantity(y1, this.curves[0]?.unit), width - 3, 10);
    context.fillText(quantity(y0, this.curves[0]?.unit), width - 3, height - 3);
  }

  // The caption tells the numbers at the cursor.
  describe(time) {
    const parts = this.curves.slice(0, 6).map(({ name, unit, x, y }, k) => {
      let i = 0;
      while (i + 1 < x.length && Math.abs(x[i + 1] - time) <= Math.abs(x[i] - time)) i++;
      return [LINES[k % LINES.length], `${name} ${quantity(y[i], unit)}`];
    });
    this.caption.textContent = '';
    const title = document.createElement('b');
    title.textContent = this.title;
    this.caption.append(title);
    for (const [color, text] of parts) {
      const item = document.createElement('span');
      item.style.setProperty('--line', color);
      item.textContent = text;
      this.caption.append(item);
    }
    if (this.curves.length > 6) this.caption.append(` and ${this.curves.length - 6} more`);
    this.canvas.setAttribute('aria-label', `${this.title} over time: ${parts.map(([, text]) => text).join(', ')}`);
  }
}
