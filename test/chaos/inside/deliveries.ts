import type { Claimable } from 'storefront-webhooks';

// The size of a real order.
const body = new TextEncoder().encode(
  JSON.stringify({ id: 'ord_1', status: 100, email: 'buyer@example.com', note: 'x'.repeat(430) }),
);

/** A claimable delivery with this key. */
export function deliveryOf(key: string): Claimable {
  return {
    key,
    scope: 'shop',
    id: 'whl_1',
    event: 'order:paid',
    receivedAt: 1_790_000_000_000,
    body,
  };
}
