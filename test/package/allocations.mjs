// Prints the bytes that a delivery allocates on the heap of JavaScript: the median of several windows. Run it with
// --expose-gc, with --single-threaded, and with a young generation that holds all of them, so that nothing is collected
// while it counts. The argument is the folder of the built package.
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { orderBody } from '../../bench/payload.mjs';

const WARM_UP = 20_000;
const WINDOWS = 11;
const DELIVERIES = 500;

const built = pathToFileURL(join(process.argv[2], 'dist', 'index.js'));
const { createReceiver, memoryStore } = await import(built);

const secret = 'an-account-secret-of-usual-length';
const body = orderBody(1024);
const signature = createHmac('sha512', secret).update(body).digest('hex');
const receiver = createReceiver({ secret, store: memoryStore() }).on('order:paid', async () => {});

let sent = 0;
async function deliver(count) {
  for (let left = count; left > 0; left -= 1) {
    const headers = {
      'content-type': 'application/json',
      'x-service-event': 'order:paid',
      'x-service-webhook': `whl_${sent}`,
      'x-service-signature': signature,
    };
    sent += 1;
    const { status } = await receiver.receive({ method: 'POST', url: '/webhooks', headers, body });
    if (status !== 200) throw new Error(`The receiver answered ${status}.`);
  }
}

await deliver(WARM_UP);
globalThis.gc();
const windows = [];
for (let window = 0; window < WINDOWS; window += 1) {
  const before = process.memoryUsage().heapUsed;
  await deliver(DELIVERIES);
  windows.push((process.memoryUsage().heapUsed - before) / DELIVERIES);
}
windows.sort((one, other) => one - other);
console.log(Math.round(windows[(WINDOWS - 1) / 2]));
