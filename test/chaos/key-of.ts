import { createHash } from 'node:crypto';

/** Returns the key that `deliveryKey` makes of a sender's delivery. */
export function keyOf(id: string): string {
  const order = `order-${id}`;
  const content = `state:${order.length}:${order}number:3:1002026-11-01T00:00:00Z`;
  const parts = ['delivery', '', id, 'order:paid', content];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
