import { randomUUID } from 'node:crypto';
import type { IdempotencyStore } from 'storefront-webhooks';
import type { Call } from '../linearizable.js';
import type { ClaimsAnswer, ClaimsQuestion, Step } from '../messages.js';
import { monotonicMs } from '../monotonic.js';
import { deliveryOf } from './deliveries.js';
import { open } from './open.js';

const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
const UNBOUNDED = Number.POSITIVE_INFINITY;
const FAIL = { permanent: false, error: 'by the harness' };

async function claim(store: IdempotencyStore, key: string, leaseMs: number): Promise<Call> {
  const owner = randomUUID();
  const terms = { owner, leaseMs, keepMs: KEEP_MS, maxCrashes: UNBOUNDED };
  const invoked = monotonicMs();
  const { state, ...rest } = await store.claim(deliveryOf(key), terms);
  const returned = monotonicMs();
  const fence = 'fence' in rest ? rest.fence : undefined;
  return { verb: 'claim', invoked, returned, owner, leaseMs, fence, result: state };
}

/** Calls a verb, and returns whether the store accepted it. */
async function tryVerb(
  store: IdempotencyStore,
  verb: Exclude<Call['verb'], 'claim'>,
  key: string,
  fence: number,
  leaseMs: number,
): Promise<boolean> {
  switch (verb) {
    case 'renew':
      return store.renew(key, fence, leaseMs);
    case 'completeStep':
      return store.completeStep(key, fence, 'handler', null);
    case 'complete':
      return store.complete(key, fence, KEEP_MS);
    case 'fail':
      return (await store.fail(key, fence, FAIL)) !== 'lost';
    case 'release':
      return store.release(key, fence);
  }
}

async function runThread(store: IdempotencyStore, steps: readonly Step[]): Promise<Call[]> {
  const calls: Call[] = [];
  let mine: number | undefined;
  for (const step of steps) {
    if (step.verb === 'pause') {
      await new Promise((resolve) => setTimeout(resolve, step.ms));
    } else if (step.verb === 'claim') {
      const call = await claim(store, step.key, step.leaseMs);
      mine = call.fence ?? mine;
      calls.push(call);
    } else if (step.verb === 'take') {
      let call = await claim(store, step.key, step.leaseMs);
      while (call.result === 'busy') {
        await new Promise((resolve) => setTimeout(resolve, step.everyMs));
        call = await claim(store, step.key, step.leaseMs);
      }
      calls.push(call);
    } else {
      const { verb, key, fence = mine, leaseMs = 60_000 } = step;
      if (fence === undefined) continue;
      const invoked = monotonicMs();
      const accepted = await tryVerb(store, verb, key, fence, leaseMs);
      const returned = monotonicMs();
      const result = accepted ? 'accepted' : 'refused';
      calls.push({ verb, invoked, returned, leaseMs, fence, result });
    }
  }
  return calls;
}

async function main(): Promise<void> {
  const { store } = await open({ connections: 10 });
  process.once('disconnect', () => process.exit(0));
  process.on('message', async ({ id, threads }: ClaimsQuestion) => {
    let answer: ClaimsAnswer;
    try {
      const calls = await Promise.all(threads.map((steps) => runThread(store, steps)));
      answer = { id, calls: calls.flat() };
    } catch (error) {
      answer = { id, calls: [], error: String(error) };
    }
    process.send?.(answer);
  });
  process.send?.({ id: 0, calls: [] } satisfies ClaimsAnswer);
}

void main();
