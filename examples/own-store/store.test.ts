import { describe, test } from 'node:test';
import { testStore } from 'storefront-webhooks/testing';
import { Records } from './records.js';
import { recordStore } from './store.js';

for (const durable of [true, false]) {
  let records: Records;
  testStore(
    durable ? 'durable' : 'forgetful',
    {
      open() {
        records = new Records();
        return recordStore(records, durable);
      },
      async age(key) {
        const entry = await records.get(key);
        if (entry) await records.replace(key, entry, { ...entry, dueAt: entry.dueAt - 120_000 });
      },
    },
    { describe, test },
  );
}
