import { afterAll, beforeAll } from 'vitest';
import { withRuntimes } from '../../runtimes/installed.js';
import { newFolder } from '../../stores/sqlite/remote.js';
import { describeStore } from '../../stores/suite.js';
import { describeD1 } from './d1.js';
import { describeDurableObjects } from './durable-object.js';
import { describeReceiver } from './receiver.js';
import { buildWorker, type Served, serveWorker } from './served.js';

const AGE = 'UPDATE webhook_delivery SET not_before = not_before - 120000';

withRuntimes('the stores in workerd', () => {
  let worker: Served;
  beforeAll(async () => {
    const folder = newFolder();
    await buildWorker(folder);
    worker = await serveWorker(folder);
  }, 120_000);
  afterAll(() => worker?.kill());

  const objects = () => worker.store({ store: 'durable-object', shards: 2, sleeps: true });
  describeStore(
    'Durable Object',
    async () => {
      const store = objects();
      await store.wipe();
      return store;
    },
    { age: () => Promise.all([0, 1].map((shard) => objects().objectSql(shard, AGE))) },
  );

  describeStore(
    'D1',
    async () => {
      const store = worker.store({ store: 'd1' });
      await store.count({ state: 'dead' });
      await store.sql('DELETE FROM webhook_delivery');
      return store;
    },
    { age: () => worker.store({ store: 'd1' }).sql(AGE) },
  );

  describeDurableObjects(() => worker);
  describeD1(() => worker);
  describeReceiver(() => worker);
});
