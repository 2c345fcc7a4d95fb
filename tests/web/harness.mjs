// What the browser tests share: arguments, checks that count, chromium with SwiftShader.
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [modules, cuttle, source, directory, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });
export { cuttle, source, directory };

let passed = 0;
const failures = [];
export async function check(name, body) {
  try {
    await body();
    passed++;
    console.log(`[       OK ] ${name}`);
  } catch (error) {
    failures.push(name);
    console.log(`[  FAILED  ] ${name}\n${error.stack}`);
  }
}

export const launch = () => createRequire(join(modules, 'package.json'))('playwright-core').chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});

export function end() {
  console.log(`[  PASSED  ] ${passed} test(s).`);
  if (failures.length) console.log(`[  FAILED  ] ${failures.length} test(s): ${failures.join('; ')}`);
  process.exit(failures.length ? 1 : 0);
}
