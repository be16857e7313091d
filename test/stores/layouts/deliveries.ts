import type { Claimable, EffectLedger, IdempotencyStore, LeaseTerms } from 'storefront-webhooks';

/** The deliveries that are written into a store of each layout, and that all later versions have to find. */
export const KEYS = {
  done: 'a0'.repeat(32),
  retry: 'b1'.repeat(32),
  dead: 'c2'.repeat(32),
  stalled: 'd3'.repeat(32),
  effect: 'e4'.repeat(32),
  ledger: 'f5'.repeat(32),
} as const;

export const STEPS = { '["mail"]': ['sent'] } as const;
const LONG_AGO_MS = -120_000;

export function deliveryOf(key: string): Claimable {
  return {
    key,
    scope: 'shop',
    id: `whl_${key.slice(0, 2)}`,
    event: 'order:paid',
    receivedAt: 1_790_000_000_000,
    body: key === KEYS.effect ? undefined : new TextEncoder().encode('{"id":"ord_1"}'),
    proof: key === KEYS.stalled ? 'the proof' : undefined,
  };
}

const terms = (leaseMs: number): LeaseTerms => ({
  owner: crypto.randomUUID(),
  leaseMs,
  keepMs: Number.POSITIVE_INFINITY,
  maxCrashes: 5,
});

/** Brings one delivery into each state. */
export async function fill(store: IdempotencyStore): Promise<void> {
  const claim = async (key: string, leaseMs = 60_000) => {
    const claimed = await store.claim(deliveryOf(key), terms(leaseMs));
    if (claimed.state !== 'acquired') throw new Error(`${key} is ${claimed.state}`);
    return claimed.fence;
  };
  for (const key of [KEYS.done, KEYS.effect]) {
    await store.complete(key, await claim(key), Number.POSITIVE_INFINITY);
  }
  const error = 'it threw';
  const retry = await claim(KEYS.retry);
  await store.completeStep(KEYS.retry, retry, '["mail"]', ['sent']);
  await store.fail(KEYS.retry, retry, { error, permanent: false });
  await store.fail(KEYS.dead, await claim(KEYS.dead), { error, permanent: true });
  await claim(KEYS.stalled, LONG_AGO_MS);
}

export async function enter<Tx>(
  ledger: EffectLedger<Tx, boolean | Promise<boolean>>,
  tx: Tx,
): Promise<boolean> {
  return ledger.once(tx, { key: KEYS.ledger, handler: 'order:paid' });
}
