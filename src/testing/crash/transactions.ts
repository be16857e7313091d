import { UsageError } from '../../errors/errors.js';
import type { IdempotencyStore, StoreTransactions, TransactTerms } from '../../stores/store.js';
import { refuseSkipOlder, refuseStep } from '../../stores/transactions.js';

/** The part of a simulated process in a transaction. */
interface Simulation {
  readonly isDead: () => boolean;
  /** Runs a handler up to COMMIT. Never settles if the process dies before it. */
  readonly run: (work: (tx: unknown) => unknown) => Promise<void>;
}

/** Returns transactions whose records are in a store, and whose other statements are the caller's. */
export function transactionsOver(
  kept: IdempotencyStore,
  { isDead, run }: Simulation,
): StoreTransactions<unknown> {
  return {
    check: refuseSkipOlder,
    refuseStep,
    async run(terms, work) {
      if (isDead() || !(await terms.begin())) return { state: 'lost' };
      const { effect } = terms;
      const isKnown = effect !== undefined && (await kept.isDone?.(effect)) === true;
      if (!isKnown) await run(work);
      if (isDead() || !(await record(kept, terms))) return { state: 'lost' };
      if (effect !== undefined && !isKnown) await complete(kept, effect);
      return { state: isKnown ? 'known' : 'done' };
    },
  };
}

/** The transactions of a program that has given no client for them. */
export const MISSING: StoreTransactions<unknown> = {
  check() {
    throw new UsageError(
      'option_invalid',
      'crashPoints() needs the tx of a handler with the option transaction. Pass a double of the client that the ' +
        'handler uses, such as { observe, tx: { query: async () => ({ rows: [] }) } }.',
    );
  },
  refuseStep,
  run: async () => ({ state: 'lost' }),
};

function record(kept: IdempotencyStore, { key, fence, record }: TransactTerms): Promise<boolean> {
  return 'step' in record
    ? kept.completeStep(key, fence, record.step, null)
    : kept.complete(key, fence, record.keepMs);
}

const FOREVER = Number.POSITIVE_INFINITY;

async function complete(kept: IdempotencyStore, effect: string): Promise<void> {
  const claim = await kept.claim(
    { key: effect, scope: '', id: '', event: '', receivedAt: 0, body: undefined },
    { owner: effect, leaseMs: 0, keepMs: FOREVER, maxCrashes: FOREVER },
  );
  if (claim.state === 'acquired') await kept.complete(effect, claim.fence, FOREVER);
}
