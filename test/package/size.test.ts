import { afterAll, expect, test } from 'vitest';
import { bundle } from './bundle.js';
import { build, removeFolders } from './folder.js';

afterAll(removeFolders);

// What they take, rounded up, so that nothing large slips in. `npm run size` shows them beside the budget.
test.each([
  ['with the receiver in it', [], 37_500],
  ['without the schema library', ['zod'], 30_500],
] as const)('a Worker %s does not grow', { timeout: 60_000 }, async (_, without, bytes) => {
  const { gzipped } = await bundle(await build({ types: false }), { without });
  expect(gzipped).toBeLessThanOrEqual(bytes);
});
