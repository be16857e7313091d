import type { IdempotencyStore } from 'storefront-webhooks';
import { createGoods, type Goods } from 'storefront-webhooks/goods';
import { monotonicMs } from '../monotonic.js';
import type { Effects } from './effects.js';
import { pass } from './faults-here.js';
import { pause } from './handlers.js';

/** Goods that differ each time they are made. */
export function openGoods(
  store: IdempotencyStore,
  effects: Effects,
  onError: (error: unknown) => void,
): Goods {
  const secret = process.env.CHAOS_SECRET;
  const hooks = { onError, onRejected: () => {} };
  return createGoods({ secret, store, hooks }, async ({ id }, { key, attempt }) => {
    const started = monotonicMs();
    pass('before-goods');
    await effects.ran({ delivery: id, key, handler: 'goods', attempt, started });
    await pause();
    pass('after-goods');
    return `${id} has ${crypto.randomUUID()}`;
  });
}
