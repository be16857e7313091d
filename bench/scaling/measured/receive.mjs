import { createReceiver, memoryStore } from '../../../dist/index.js';
import { BODY, CONTENDERS, SECRET } from '../../contenders.mjs';
import { rate } from './rate.mjs';
import { report, task } from './task.mjs';

const { headers } = CONTENDERS.find(({ file }) => file === 'node.mjs');
const receiver = createReceiver({ secret: SECRET, store: memoryStore() }).on(
  'order:paid',
  async () => {},
);
let deliveries = 0;

report(
  await rate(async () => {
    const { outcome } = await receiver.receive({
      method: 'POST',
      url: '/webhooks',
      headers: { ...headers, 'x-service-webhook': `whl_${deliveries++}` },
      body: BODY,
    });
    if (outcome !== 'handled') throw new Error(`It was ${outcome}.`);
    // Let timers run, as in a server.
    if (deliveries % 1000 === 0) await new Promise(setImmediate);
  }, task),
);
