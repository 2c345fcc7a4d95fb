// Bundles the viewer into one page: node build.mjs DIRECTORY_WITH_NODE_MODULES OUT.html
//
// Style and script stand inside the page, the script deflated; <!--DATA--> in it marks where the motions go.
import { createRequire } from 'node:module';
import { deflateSync } from 'node:zlib';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, out] = process.argv.slice(2).map((path) => resolve(path));
const esbuild = createRequire(join(modules, 'package.json'))('esbuild');
const source = join(dirname(fileURLToPath(import.meta.url)), 'src');

function bundle(file) {
  const result = esbuild.buildSync({
    entryPoints: [join(source, file)],
    nodePaths: [join(modules, 'node_modules')],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2020'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text;
}

const script = deflateSync(Buffer.from(bundle('main.js')), { level: 9 }).toString('base64');
const three = readFileSync(join(modules, 'node_modules/three/LICENSE'), 'utf8').replace(/--+>/g, '');
const page = readFileSync(join(source, 'index.html'), 'utf8')
  .replace('/*STYLE*/', () => bundle('style.css').trim())
  .replace('/*THREE*/', () => three.trim())
  .replace('/*SCRIPT*/', () => script);
writeFileSync(out, page);
