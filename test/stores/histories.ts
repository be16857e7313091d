import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import type { Claimable, IdempotencyStore, StoredDelivery } from 'storefront-webhooks';
import { LATER_MS, LONG_AGO_MS, PAST_MS } from './model.js';

/** A call for one of three keys. A fence is given by its number among the fences of its key. */
export type Action =
  | {
      verb: 'claim';
      key: number;
      owner: number;
      leaseMs: number;
      keepMs: number;
      maxCrashes: number;
    }
  | { verb: 'renew'; key: number; back: number; leaseMs: number }
  | { verb: 'completeStep'; key: number; back: number; handler: string; output: number }
  | { verb: 'complete' | 'release'; key: number; back: number }
  | {
      verb: 'fail';
      key: number;
      back: number;
      permanent: boolean;
    }
  | { verb: 'redrive'; key: number }
  | { verb: 'purge'; key: number }
  | { verb: 'list'; key: number };

const ms = fc.constantFrom(LATER_MS, PAST_MS, LONG_AGO_MS);
const key = fc.nat(2);
// Most calls come from the latest holder.
const back = fc.constantFrom(0, 0, 0, 1, 2);
const verb = <Verb extends string>(...verbs: Verb[]) => fc.constantFrom(...verbs);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      verb: verb('claim'),
      key,
      owner: fc.nat(2),
      leaseMs: ms,
      keepMs: fc.constantFrom(0, 60_000),
      maxCrashes: fc.constantFrom(1, 2, Number.POSITIVE_INFINITY),
    }),
  },
  { weight: 1, arbitrary: fc.record({ verb: verb('renew'), key, back, leaseMs: ms }) },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: verb('completeStep'),
      key,
      back,
      handler: fc.constantFrom('a', '["b","step"]'),
      output: fc.nat(9),
    }),
  },
  { weight: 1, arbitrary: fc.record({ verb: verb('complete', 'release'), key, back }) },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: verb('fail'),
      key,
      back,
      permanent: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 3, arbitrary: fc.record({ verb: verb('redrive', 'purge', 'list'), key }) },
);

export const histories = fc.array(action, { minLength: 20, maxLength: 60, size: 'max' });

/** Returns the store's answers, with fences numbered in the order in which they were given. */
export async function answersOf(store: IdempotencyStore, history: readonly Action[]) {
  const deliveries = [0, 1, 2].map(newDelivery);
  const fences: number[][] = [[], [], []];
  const answers: unknown[] = [];
  for (const action of history) {
    const delivery = deliveries[action.key] as Claimable;
    const given = fences[action.key] as number[];
    answers.push(await answer(store, action, delivery, given, deliveries));
  }
  return answers;
}

async function answer(
  store: IdempotencyStore,
  action: Action,
  delivery: Claimable,
  given: number[],
  deliveries: readonly Claimable[],
): Promise<unknown> {
  const { key } = delivery;
  if (action.verb === 'claim') {
    const { owner, leaseMs, keepMs, maxCrashes } = action;
    const claim = await store.claim(delivery, {
      owner: owners[owner] ?? '',
      leaseMs,
      keepMs,
      maxCrashes,
    });
    if (claim.state === 'busy') return 'busy';
    if (claim.state !== 'acquired') return claim;
    const { fence, ...rest } = claim;
    if (given.at(-1) !== fence) given.push(fence);
    const isLargest = given.every((earlier) => earlier <= fence);
    return { ...rest, number: given.indexOf(fence), isLargest };
  }
  if (action.verb === 'redrive') return store.redrive(key);
  if (action.verb === 'purge') return store.purge(100);
  if (action.verb === 'list') {
    const listed: StoredDelivery[] = [];
    const counts: number[] = [];
    for (const state of ['dead', 'stalled', 'failing'] as const) {
      listed.push(...(await store.list({ state, limit: 9 })));
      counts.push(await store.count({ state }));
    }
    const answers = listed.map(({ key, body, lastTriedAt, dueAt, ...rest }) => ({
      ...rest,
      // Rounded to half minutes from now, because a real store has a clock and takes time.
      lastTriedAt: lastTriedAt && roughly(lastTriedAt),
      dueAt: dueAt && roughly(dueAt),
      which: deliveries.findIndex((one) => one.key === key),
      body: Buffer.from(body).toString(),
    }));
    return [counts, ...answers];
  }
  const fence = given.at(-1 - action.back);
  if (fence === undefined) return 'none';
  switch (action.verb) {
    case 'renew':
      return store.renew(key, fence, action.leaseMs);
    case 'completeStep':
      return store.completeStep(key, fence, action.handler, action.output);
    case 'complete':
      return store.complete(key, fence, LATER_MS);
    case 'release':
      return store.release(key, fence);
    case 'fail':
      return store.fail(key, fence, { ...action, error: 'it threw' });
  }
}

function roughly(date: Date): number {
  // Adding 0 avoids -0, which is not equal to 0.
  return Math.round((date.getTime() - Date.now()) / 30_000) + 0;
}

const owners = Array.from({ length: 3 }, () => crypto.randomUUID());

/** Makes one of three deliveries, whose keys sort by `index`. The last one is an effect, which has no body. */
function newDelivery(index: number): Claimable {
  return {
    key: `0${index}${randomBytes(31).toString('hex')}`,
    scope: 'shop',
    id: `whl_${index}`,
    event: 'order:paid',
    receivedAt: 1_790_000_000_000,
    body: index === 2 ? undefined : new TextEncoder().encode(`{"id":"ord_${index}"}`),
    proof: index === 0 ? undefined : `the proof of ${index}`,
  };
}
