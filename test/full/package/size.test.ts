import { afterAll, expect, test } from 'vitest';
import { BUDGETS, bundle } from '../../package/bundle.js';
import { build, removeFolders } from '../../package/folder.js';

afterAll(removeFolders);

// `npm run size` shows what it consists of.
for (const { name, bytes, without } of BUDGETS) {
  test(`a Worker ${name} does not grow`, async () => {
    const { gzipped } = await bundle(await build({ types: false }), { without });
    expect(gzipped).toBeLessThanOrEqual(bytes);
  });
}
