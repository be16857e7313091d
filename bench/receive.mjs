import { createHash, createHmac } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import { createReceiver, memoryStore } from '../dist/index.js';
import { carefulByHand } from './careful.mjs';
import { measure, print } from './measure.mjs';
import { orderBody } from './payload.mjs';

/** Compares the whole of `receive()` with a careful receiver by hand that does the same, and with octokit's. */
export async function benchReceive() {
  const secret = 'an-account-secret-of-usual-length';
  const body = orderBody(1024);
  const text = body.toString();
  const signature = createHmac('sha512', secret).update(body).digest('hex');
  const octokitSignature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const octokit = new Webhooks({ secret });
  octokit.on('push', async () => {});
  const receiver = createReceiver({ secret, store: memoryStore() }).on(
    'order:paid',
    async () => {},
  );
  let delivery = 0;

  const byHand = carefulByHand(secret, async () => {});
  const request = () => ({
    method: 'POST',
    url: '/webhooks',
    headers: {
      host: 'localhost:3000',
      'content-type': 'application/json',
      'content-length': '1024',
      connection: 'keep-alive',
      'x-service-event': 'order:paid',
      'x-service-webhook': `whl_${delivery++}`,
      'x-service-signature': signature,
    },
    body,
  });

  const times = await measure(
    {
      'a careful receiver by hand': () => byHand(request()),
      'receive()': () => receiver.receive(request()),
      'octokit verifyAndReceive()': () =>
        octokit.verifyAndReceive({
          id: `whl_${delivery++}`,
          name: 'push',
          payload: text,
          signature: octokitSignature,
        }),
      'floor: SHA-512 of the bytes + JSON.parse': () => {
        createHash('sha512').update(body).digest();
        JSON.parse(body.toString());
      },
    },
    // Large enough that each batch includes its own garbage collection.
    { batch: 1000, rounds: 40 },
  );
  print('receive(), 1 KB', times);
  const ratio = times.get('receive()') / times.get('a careful receiver by hand');
  const isMet = ratio <= MOST;
  console.log(`  receive() / by hand ${ratio.toFixed(2)}, bar ${MOST}: ${isMet ? 'ok' : 'missed'}`);
  if (!isMet) process.exitCode = 1;
}

/** The highest allowed ratio of `receive()` to the receiver by hand. */
const MOST = 1.35;
