import { createHash, createHmac } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import { createReceiver, memoryStore } from '../dist/index.js';
import { measure, print } from './measure.mjs';
import { orderBody } from './payload.mjs';

/** The whole of `receive()`, with schema check, routing and idempotency on, against its floor and octokit. */
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

  const times = await measure(
    {
      'floor: SHA-512 of the bytes + JSON.parse': () => {
        createHash('sha512').update(body).digest();
        JSON.parse(body.toString());
      },
      'receive()': () =>
        receiver.receive({
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
        }),
      'octokit verifyAndReceive()': () =>
        octokit.verifyAndReceive({
          id: `whl_${delivery++}`,
          name: 'push',
          payload: text,
          signature: octokitSignature,
        }),
    },
    // Large enough that each batch pays for its own garbage.
    { batch: 1000, rounds: 40 },
  );
  print('receive(), 1 KB', times);
}
