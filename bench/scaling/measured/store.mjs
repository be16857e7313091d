import { randomUUID } from 'node:crypto';
import { newDelivery } from './deliveries.mjs';
import { rate } from './rate.mjs';
import { openStore } from './stores.mjs';
import { report, task } from './task.mjs';

const TERMS = { leaseMs: 60_000, keepMs: 30 * 24 * 60 * 60 * 1000, maxCrashes: 5 };

const { store, server } = await openStore(task);
report(
  await rate(
    async () => {
      const delivery = newDelivery();
      const claim = await store.claim(delivery, { ...TERMS, owner: randomUUID() });
      if (claim.state !== 'acquired') throw new Error(`A fresh key is ${claim.state}.`);
      const isDone = await store.complete(delivery.key, claim.fence, TERMS.keepMs);
      if (!isDone) throw new Error('It was not completed.');
    },
    { ...task, server },
  ),
);
