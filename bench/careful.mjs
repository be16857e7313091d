import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { orderSchema } from '../dist/index.js';

const LEASE_MS = 10_000;

/**
 * Returns a receiver as a careful seller writes it by hand: with the checks, the schema, the key and the receipt of
 * this library, and with a Map in place of the store, in which a timer ends each lease.
 */
export function carefulByHand(secret, handler) {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const receiptKey = createHmac('sha512', secret).update('receipt').digest();
  const seen = new Map();
  const respond = (status, outcome, receipt) => ({
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(receipt && { 'x-receipt': receipt }),
    },
    body: JSON.stringify({ outcome }),
  });
  const receiptOf = (key, id, outcome) => {
    const stated = `${outcome}.${Math.floor(Date.now() / 1000)}.${key}`;
    return `${stated}.${createHmac('sha512', receiptKey).update(`${stated}.${id}`).digest('hex')}`;
  };
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
    if (earlier) {
      const outcome = earlier === 'done' ? 'duplicate' : 'busy';
      return respond(earlier === 'done' ? 200 : 503, outcome, receiptOf(key, id, outcome));
    }
    seen.set(key, 'leased');
    const lease = setTimeout(() => seen.delete(key), LEASE_MS);
    try {
      await handler({ id, event, payload: order, issues, key, receivedAt: new Date() });
      seen.set(key, 'done');
      return respond(200, 'handled', receiptOf(key, id, 'handled'));
    } catch {
      seen.delete(key);
      return respond(500, 'failed', receiptOf(key, id, 'failed'));
    } finally {
      clearTimeout(lease);
    }
  };
}
