import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { toUtf8 } from '../../runtime/bytes.js';
import type {
  Claim,
  Claimable,
  FailTerms,
  IdempotencyStore,
  LeaseTerms,
  StoredDelivery,
  UnfinishedState,
} from '../../stores/store.js';
import { eventually } from '../suite.js';

export const LEASE_MS = 60;
export const LATER_MS = 60_000;
export const KEEP_MS = 60_000;
/** As `leaseMs`: the lease expired so long ago that the delivery is stalled. */
export const LONG_AGO_MS = -120_000;
/** How much the clocks of the store and of this process may differ, with the time that a call takes. */
export const CLOCKS_MS = 15_000;
export const RETRY: FailTerms = { permanent: false, error: 'it threw' };
export const STATES: readonly UnfinishedState[] = ['dead', 'stalled', 'failing'];

/** Defines a test, which gets a store of its own. */
export type StoreTest = (name: string, run: (tested: Tested) => Promise<void>) => void;

/** An empty store, a delivery, and the calls that most tests make with them. */
export interface Tested {
  readonly store: IdempotencyStore;
  readonly delivery: Claimable;
  /** Whether done deliveries expire by themselves. */
  readonly expires: boolean;
  claim(terms?: Partial<LeaseTerms>, subject?: Claimable): Promise<Claim>;
  acquire(terms?: Partial<LeaseTerms>, subject?: Claimable): Promise<Acquired>;
  /** Claims until the lease of the holder has expired. */
  takeOver(terms?: Partial<LeaseTerms>): Promise<Claim>;
  fenceOf(terms: Partial<LeaseTerms>, subject: Claimable): Promise<number>;
  fail(subject: Claimable, terms?: Partial<FailTerms>): Promise<unknown>;
  lapse(subject: Claimable): Promise<unknown>;
  keysIn(state: UnfinishedState): Promise<string[]>;
  /** Returns the one delivery in a state. */
  only(state: UnfinishedState): Promise<StoredDelivery>;
}

type Acquired = Extract<Claim, { state: 'acquired' }>;

export function toTested(store: IdempotencyStore, expires: boolean): Tested {
  const delivery = newDelivery();
  const terms = { leaseMs: LEASE_MS, keepMs: KEEP_MS, maxCrashes: 3 };
  const claim: Tested['claim'] = (changes = {}, subject = delivery) =>
    store.claim(subject, { owner: randomUUID(), ...terms, ...changes });
  const acquire: Tested['acquire'] = async (changes, subject) =>
    acquired(await claim(changes, subject));
  const fenceOf: Tested['fenceOf'] = async (changes, subject) =>
    (await acquire(changes, subject)).fence;
  return {
    ...{ store, delivery, expires, claim, acquire, fenceOf },
    takeOver: (changes) =>
      eventually('the lease of the holder expires', async () => {
        const result = await claim(changes);
        return result.state === 'busy' ? undefined : result;
      }),
    fail: async (subject, changes) => {
      const fence = await fenceOf({ leaseMs: LATER_MS }, subject);
      return store.fail(subject.key, fence, { ...RETRY, ...changes });
    },
    lapse: (subject) => acquire({ leaseMs: -1, maxCrashes: 9 }, subject),
    keysIn: async (state) => (await store.list({ state, limit: 99 })).map(({ key }) => key),
    only: async (state) => {
      const [first, ...others] = await store.list({ state, limit: 9 });
      assert.ok(
        first && others.length === 0,
        `The store should list exactly one ${state} delivery.`,
      );
      return first;
    },
  };
}

export function newDelivery(): Claimable {
  return {
    key: randomUUID().replaceAll('-', '').repeat(2),
    scope: 'shop',
    id: 'whl_1',
    event: 'order:paid',
    receivedAt: 1_790_000_000_000,
    body: toUtf8('{"id":"ord_1"}'),
  };
}

export function acquired(claim: Claim): Acquired {
  if (claim.state === 'acquired') return claim;
  assert.fail(`The claim should acquire the lease, but it is ${claim.state}.`);
}

/** Asserts that a fence is at least the time of the claim. The clock of the store may be slow. */
export function assertIsTime(fence: number): void {
  assert.ok(
    fence >= Date.now() - CLOCKS_MS,
    `A fence should be at least the time of the claim in milliseconds since 1970, but it is ${fence}.`,
  );
}
