import { join } from 'node:path';
import { describe } from 'vitest';
import { built, everyFenceCounts, negated, replacing } from './fence-predicates.js';
import { LIBSQL } from './sqlite/drivers.js';
import { bundleProcess, newFolder, openStore } from './sqlite/remote.js';

describe('every fence predicate of the memory store', () => {
  const file = 'src/stores/memory.ts';
  everyFenceCounts(
    { file, pattern: /entry\??\.fence (!==|===) fence/g, gone: negated },
    async (source) => {
      const store = await built<typeof import('../../src/stores/memory.js')>(file, file, source);
      return { store: store.memoryStore(), close() {} };
    },
  );
});

describe('every fence predicate of the SQLite store', () => {
  const file = 'src/stores/sqlite/statements.ts';
  everyFenceCounts(
    { file, pattern: /(?<= )fence = \?/g, gone: (predicate) => `(${predicate} OR true)` },
    async (source) => {
      const bundle = await bundleProcess([replacing(file, source)]);
      const database = join(newFolder(), 'webhooks.db');
      const store = await openStore([process.execPath], LIBSQL, database, bundle);
      return { store, close: () => store.stop() };
    },
  );
});
