import { createHash, createHmac, hash, timingSafeEqual } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import { createReceiver, memoryStore, orderSchema } from '../dist/index.js';
import { measure, print } from './measure.mjs';
import { orderBody } from './payload.mjs';

/** The whole of `receive()`, against a careful receiver by hand that does the same, and octokit's. */
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
    // Large enough that each batch pays for its own garbage.
    { batch: 1000, rounds: 40 },
  );
  print('receive(), 1 KB', times);
  const ratio = times.get('receive()') / times.get('a careful receiver by hand');
  const isMet = ratio <= MOST;
  console.log(`  receive() / by hand ${ratio.toFixed(2)}, bar ${MOST}: ${isMet ? 'ok' : 'missed'}`);
  if (!isMet) process.exitCode = 1;
}

/** `receive()` is to take at most so many times as long as what is written by hand. */
const MOST = 1.35;

/** What a careful seller writes: the same checks, our schema, our key, and a Map in place of a store. */
function carefulByHand(secret, handler) {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const seen = new Map();
  const respond = (status, outcome) => ({
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ outcome }),
  });
  return async ({ method, headers, body }) => {
    if (method !== 'POST') return respond(405, 'rejected');
    const signature = headers['x-service-signature'];
    const event = headers['x-service-event'];
    const id = headers['x-service-webhook'];
    if (!/^[0-9a-f]{128}$/i.test(signature)) return respond(401, 'rejected');
    const expected = createHmac('sha512', secret).update(body).digest();
    if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return respond(401, 'rejected');
    let json;
    try {
      json = JSON.parse(decoder.decode(body));
    } catch {
      return respond(400, 'rejected');
    }
    const { value: order, issues } = orderSchema.read(json);
    if (order?.status !== 100) return respond(422, 'rejected');
    const state = `${order.id}:${order.status}:${order.updated_at}`;
    const key = hash('sha256', JSON.stringify(['', id, event, state]));
    const earlier = seen.get(key);
    if (earlier) return respond(earlier === 'done' ? 200 : 503, 'duplicate');
    seen.set(key, 'leased');
    try {
      await handler({ id, event, payload: order, issues, key, receivedAt: new Date() });
      seen.set(key, 'done');
      return respond(200, 'handled');
    } catch {
      seen.delete(key);
      return respond(500, 'failed');
    }
  };
}
