import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const ROUNDS = 15;

// Ours has both modules, because a program that mounts a receiver also creates one.
const MODULES = {
  'storefront-webhooks, with its /express': ['../dist/index.js', '../dist/express.js'],
  '@octokit/webhooks': ['@octokit/webhooks'],
  stripe: ['stripe'],
};

/** Measures how long each library takes to load, in fresh processes. */
export async function benchImport() {
  const times = new Map(Object.keys(MODULES).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, files] of Object.entries(MODULES)) times.get(name).push(await time(files));
  }
  console.log(`\nimport, in a fresh process: median of ${ROUNDS}`);
  for (const [name, values] of times) {
    const median = values.sort((a, b) => a - b)[values.length >> 1];
    console.log(`  ${name.padEnd(44)} ${median.toFixed(1).padStart(9)} ms`);
  }
}

async function time(files) {
  const imports = files.map((file) => `await import('${file}');`).join(' ');
  const script = `const t = performance.now(); ${imports} console.log(performance.now() - t);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', script],
    { cwd: import.meta.dirname },
  );
  return Number(stdout);
}
