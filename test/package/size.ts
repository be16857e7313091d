import { BUDGETS, bundle } from './bundle.js';
import { build, removeFolders } from './folder.js';

const SHOWN = 12;

try {
  const folder = await build({ types: false });
  const whole = await bundle(folder);
  const own = await bundle(folder, { without: ['zod'] });
  const withoutHashes = await bundle(folder, { without: ['zod', '@noble/hashes'] });

  print('createReceiver + toWorker, with everything', whole.gzipped);
  print('  zod', whole.gzipped - own.gzipped);
  print('without zod', own.gzipped);
  print('  @noble/hashes', own.gzipped - withoutHashes.gzipped);
  print('  storefront-webhooks', withoutHashes.gzipped);

  console.log('\nThe largest parts of the latter two, minified and not gzipped:');
  const { modules } = await bundle(folder, { without: ['zod'], fromSources: true });
  const parts = new Map<string, number>();
  for (const [module, bytes] of modules) {
    const part = module.startsWith('@noble/hashes') ? '@noble/hashes' : module;
    parts.set(part, (parts.get(part) ?? 0) + bytes);
  }
  const largest = [...parts].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
  for (const [part, bytes] of largest) print(`  ${part}`, bytes);

  console.log();
  for (const budget of BUDGETS) {
    const { gzipped } = await bundle(folder, budget);
    const isMet = gzipped <= budget.bytes;
    if (!isMet) process.exitCode = 1;
    const verdict = isMet ? 'ok' : 'too large';
    console.log(`${verdict}: a Worker ${budget.name}, ${gzipped} of ${budget.bytes} bytes gzipped`);
  }
} finally {
  removeFolders();
}

function print(what: string, bytes: number): void {
  console.log(`${what.padEnd(48)}${bytes.toLocaleString('en-US').padStart(9)} bytes`);
}
