import type { IdempotencyStore } from 'storefront-webhooks';
import { forward } from '../../../src/stores/contract.js';
import { monotonicMs } from '../monotonic.js';
import type { Effects } from './effects.js';
import { pass } from './faults-here.js';
import { oldNameOf } from './handlers.js';

/** The store as the receiver sees it: each verb passes the points at which the process may be hit. */
export function chaoticStore(
  store: IdempotencyStore,
  effects: Effects,
  { lateMs, onGranted, onAnswered }: ClaimWatch,
): IdempotencyStore {
  const attempts = new Map<string, number>();
  const { transactions } = store;
  return forward(store, {
    ...(transactions && {
      transactions: {
        check: (handler) => transactions.check(handler),
        refuseStep: () => transactions.refuseStep(),
        async run(terms, work) {
          const result = await transactions.run(terms, work);
          pass('after-transaction');
          return result;
        },
      },
    }),
    async claim(...args) {
      pass('before-claim');
      const claim = await store.claim(...args);
      if (claim.state === 'acquired') {
        attempts.set(`${args[0].key} ${claim.fence}`, claim.attempt);
        onGranted(args[0].id, monotonicMs());
        pass('after-claim');
        if (lateMs > 0) await new Promise((resolve) => setTimeout(resolve, lateMs));
        onAnswered(args[0].id, monotonicMs());
      }
      return claim;
    },
    async completeStep(key, fence, handler, output) {
      const accepted = await store.completeStep(key, fence, handler, output);
      const at = monotonicMs();
      pass('after-record');
      if (accepted)
        await effects.recorded(key, nameOf(handler), attempts.get(`${key} ${fence}`) ?? 0, at);
      return accepted;
    },
    async complete(...args) {
      pass('before-complete');
      const accepted = await store.complete(...args);
      pass('after-complete');
      return accepted;
    },
  });
}

export interface ClaimWatch {
  /** How long the answer to a claim is delayed. */
  readonly lateMs: number;
  readonly onGranted: (id: string, at: number) => void;
  readonly onAnswered: (id: string, at: number) => void;
}

/** Returns the name of a handler from its recorded path. The path of a handler consists of its name alone. */
function nameOf(progress: string): string {
  const [name] = JSON.parse(progress) as [string];
  return oldNameOf(name);
}
