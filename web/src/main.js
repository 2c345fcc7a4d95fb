// Begins the viewer: the motions that stand in the page, or those that a simulation sends.
import { App } from './app.js';
import { fromBase64, inflate, parse } from './data.js';
import { startLive } from './live.js';
import { Panel } from './panel.js';
import { RecordedRun } from './run.js';

function fail(error) {
  const message = document.createElement('p');
  message.className = 'failure';
  message.setAttribute('role', 'alert');
  message.textContent = `The page cannot be shown: ${error.message}`;
  document.body.append(message);
  console.error(error);
}

async function load(script) {
  const run = new RecordedRun(parse(await inflate(fromBase64(script.textContent.trim()))));
  script.remove();
  return run;
}

async function begin() {
  const canvas = document.getElementById('canvas');
  const ui = document.getElementById('ui');
  const live = document.querySelector('script[type="application/cuttle-live"]');
  if (live) return startLive(JSON.parse(live.textContent), canvas, ui);
  const runs = [];
  for (const script of document.querySelectorAll('script[type="application/cuttle"]')) runs.push(await load(script));
  if (!runs.length) throw new Error('there is no motion in it');
  const app = new App(runs, canvas);
  const panel = new Panel(app, ui);
  app.openLink(window.location.hash);
  window.addEventListener('hashchange', () => app.openLink(window.location.hash));
  app.start();
  if (!window.location.hash.includes('t=')) app.play(app.run.nframe > 1);
  return { app, panel };
}

window.cuttle = begin().catch((error) => {
  fail(error);
  throw error;
});
