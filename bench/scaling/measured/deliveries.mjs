import { randomUUID } from 'node:crypto';
import { orderBody } from '../../payload.mjs';

const body = orderBody(1024);

/** Returns a new delivery, as a store or a queue gets it. */
export function newDelivery() {
  return {
    key: randomUUID().replaceAll('-', '').repeat(2),
    scope: '',
    id: 'whl_000000000000',
    event: 'order:paid',
    receivedAt: Date.now(),
    body,
  };
}
