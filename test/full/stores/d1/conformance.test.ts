import { describeD1 } from '../../../stores/d1/in-workerd.js';
import { describeStore } from '../../../stores/suite.js';
import { AGE, withWorker } from '../../../stores/workerd/served.js';

withWorker('the D1 store in workerd', (worker) => {
  const make = async () => {
    const store = worker().store({ store: 'd1' });
    await store.count({ state: 'dead' });
    await store.sql('DELETE FROM webhook_delivery');
    return store;
  };
  describeStore('D1', make, { age: () => worker().store({ store: 'd1' }).sql(AGE) });

  describeD1(worker);
});
