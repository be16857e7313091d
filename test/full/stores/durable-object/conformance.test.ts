import { describeDurableObjects } from '../../../stores/durable-object/in-workerd.js';
import { describeReceiver } from '../../../stores/durable-object/receiver.js';
import { describeStore } from '../../../stores/suite.js';
import { AGE, withWorker } from '../../../stores/workerd/served.js';

withWorker('the Durable Object store in workerd', (worker) => {
  const objects = () => worker().store({ store: 'durable-object', shards: 2, sleeps: true });
  const make = async () => {
    const store = objects();
    await store.wipe();
    return store;
  };
  const age = () => Promise.all([0, 1].map((shard) => objects().objectSql(shard, AGE)));
  describeStore('Durable Object', make, { age });

  describeDurableObjects(worker);
  describeReceiver(worker);
});
