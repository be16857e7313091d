import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import type {
  Claim,
  Claimable,
  FailTerms,
  IdempotencyStore,
  LeaseTerms,
} from 'storefront-webhooks';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { answersOf, histories } from './histories.js';
import { testLimits } from './limits.js';
import { testListing } from './listing.js';
import { LONG_AGO_MS, ModelStore } from './model.js';

const LEASE_MS = 60;
const KEEP_MS = 60_000;
const RETRY: FailTerms = { permanent: false, error: 'it threw' };

/**
 * What every store has to do, run against the real thing: the contract of `IdempotencyStore`.
 *
 * @param expires - What is done goes by itself once its time has come: no call of `purge` counts it.
 * @param age - Makes the lease or the retry of a delivery due two minutes earlier, where a test can do that.
 */
export function describeStore(
  name: string,
  make: () => IdempotencyStore | Promise<IdempotencyStore>,
  { expires = false, age }: { expires?: boolean; age?: (key: string) => unknown } = {},
) {
  describe(`the ${name} store`, () => {
    let store: IdempotencyStore;
    let delivery: Claimable;

    beforeEach(async () => {
      store = await make();
      delivery = newDelivery();
    });

    const claim = (terms: Partial<LeaseTerms> = {}, subject = delivery) =>
      store.claim(subject, {
        owner: randomUUID(),
        leaseMs: LEASE_MS,
        keepMs: KEEP_MS,
        maxCrashes: 3,
        ...terms,
      });
    const acquire = async (terms: Partial<LeaseTerms> = {}, subject = delivery) =>
      acquired(await claim(terms, subject));
    /** Claims until the lease of the holder has lapsed. */
    const takeOver = (terms: Partial<LeaseTerms> = {}) =>
      vi.waitUntil(async () => {
        const result = await claim(terms);
        return result.state === 'busy' ? undefined : result;
      });

    test('says what it is, in a few words', () => {
      expect(store.description).toMatch(/^[\w ().]{2,40}$/);
    });

    test.each([
      ['in upper case', 'A'.repeat(64)],
      ['too short', 'a'.repeat(63)],
      ['too long', `${'a'.repeat(64)}\n`],
      ['of other letters', 'g'.repeat(64)],
      ['no text', undefined as unknown as string],
    ])('refuses a key that is %s, whichever the verb', async (_, key) => {
      const calls = [
        claim({}, { ...delivery, key }),
        store.renew(key, 1, LEASE_MS),
        store.completeStep(key, 1, 'a', null),
        store.complete(key, 1, KEEP_MS),
        store.fail(key, 1, RETRY),
        store.release(key, 1),
        store.redrive(key),
        store.list({ state: 'dead', after: key ?? 'a' }),
      ];
      for (const refused of await Promise.allSettled(calls)) {
        expect(refused).toMatchObject({ reason: { code: 'key_invalid' } });
      }
    });

    test('gives a new key to the first who claims it', async () => {
      expect(await acquire()).toMatchObject({ attempt: 1, steps: {} });
    });

    test('elects one of forty who claim at once', async () => {
      const claims = await Promise.all(
        Array.from({ length: 40 }, () => claim({ leaseMs: 60_000 })),
      );
      const states = claims.map(({ state }) => state);
      expect(states.filter((state) => state === 'acquired')).toHaveLength(1);
      expect(states.filter((state) => state === 'busy')).toHaveLength(39);
    });

    test('elects one of forty who claim a lapsed lease at once', async () => {
      await acquire({ leaseMs: 1 });
      await vi.waitUntil(async () => {
        const claims = await Promise.all(
          Array.from({ length: 40 }, () => claim({ leaseMs: 60_000 })),
        );
        const winners = claims.filter(({ state }) => state === 'acquired');
        expect(winners.length).toBeLessThanOrEqual(1);
        return winners.length === 1;
      });
    });

    test('elects one of forty who claim a failed delivery at once', async () => {
      const { fence } = await acquire();
      await store.fail(delivery.key, fence, RETRY);
      const claims = await Promise.all(
        Array.from({ length: 40 }, () => claim({ leaseMs: 60_000 })),
      );
      expect(claims.filter(({ state }) => state === 'acquired')).toHaveLength(1);
    });

    test('tells the others how long the lease has still to run', async () => {
      await acquire({ leaseMs: 5_000 });
      const other = await claim();
      expect(other).toMatchObject({ state: 'busy' });
      const wait = other.state === 'busy' ? other.retryAfterMs : 0;
      expect(wait).toBeGreaterThan(3_000);
      expect(wait).toBeLessThanOrEqual(5_000);
    });

    test('gives the same lease to the same owner who asks again', async () => {
      const owner = randomUUID();
      const first = await acquire({ owner });
      const second = await acquire({ owner });
      expect(second).toMatchObject({ fence: first.fence, attempt: 1 });
    });

    test('keeps keys apart', async () => {
      await acquire();
      expect(await acquire({}, newDelivery())).toMatchObject({ attempt: 1 });
    });

    test('gives a lapsed lease to the next, under a larger fence', async () => {
      const first = await acquire();
      const second = acquired(await takeOver());
      expect(second.attempt).toBe(2);
      expect(second.fence).toBeGreaterThan(first.fence);
      expect(Number.isSafeInteger(second.fence)).toBe(true);
    });

    test('does not give away a lease that is renewed', async () => {
      const { fence } = await acquire();
      const end = performance.now() + 4 * LEASE_MS;
      while (performance.now() < end) {
        expect(await store.renew(delivery.key, fence, 10_000)).toBe(true);
        expect((await claim()).state).toBe('busy');
      }
    });

    test('refuses every verb under a fence that was taken over', async () => {
      const { fence } = await acquire({ leaseMs: 1 });
      const next = acquired(await takeOver({ leaseMs: 60_000 }));
      expect(await store.renew(delivery.key, fence, LEASE_MS)).toBe(false);
      expect(await store.completeStep(delivery.key, fence, 'a', null)).toBe(false);
      expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
      expect(await store.fail(delivery.key, fence, RETRY)).toBe('lost');
      expect(await store.release(delivery.key, fence)).toBe(false);
      // Nothing of it has touched the new holder.
      expect(await store.renew(delivery.key, next.fence, LEASE_MS)).toBe(true);
      expect((await claim()).state).toBe('busy');
    });

    test('refuses every verb for a key it has never seen', async () => {
      const { key } = newDelivery();
      expect(await store.renew(key, 1, LEASE_MS)).toBe(false);
      expect(await store.completeStep(key, 1, 'a', null)).toBe(false);
      expect(await store.complete(key, 1, KEEP_MS)).toBe(false);
      expect(await store.fail(key, 1, RETRY)).toBe('lost');
      expect(await store.release(key, 1)).toBe(false);
      expect(await store.redrive(key)).toBe(false);
    });

    test('refuses every verb but complete once it is done', async () => {
      const { fence } = await acquire();
      expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(true);
      expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(true);
      expect(await store.renew(delivery.key, fence, LEASE_MS)).toBe(false);
      expect(await store.completeStep(delivery.key, fence, 'a', null)).toBe(false);
      expect(await store.fail(delivery.key, fence, RETRY)).toBe('lost');
      expect(await store.release(delivery.key, fence)).toBe(false);
    });

    test('remembers what is done, also after the lease would have lapsed', async () => {
      const { fence } = await acquire({ leaseMs: 1 });
      await store.complete(delivery.key, fence, KEEP_MS);
      expect(await claim()).toEqual({ state: 'done' });
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await claim()).toEqual({ state: 'done' });
    });

    test('accepts a late result as long as nobody has taken over', async () => {
      const { fence } = await acquire({ leaseMs: 1 });
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(true);
      expect(await claim()).toEqual({ state: 'done' });
    });

    test('gives a failed delivery at once to the next, with what was done', async () => {
      const { fence } = await acquire();
      expect(await store.completeStep(delivery.key, fence, 'mail', { sent: [1, 'x', null] })).toBe(
        true,
      );
      expect(await store.completeStep(delivery.key, fence, '__proto__', 'kept')).toBe(true);
      expect(await store.fail(delivery.key, fence, RETRY)).toBe('retry');
      const next = await acquire();
      expect(next.attempt).toBe(2);
      expect(next.fence).toBeGreaterThan(fence);
      expect(Object.entries(next.steps).sort()).toEqual([
        ['__proto__', 'kept'],
        ['mail', { sent: [1, 'x', null] }],
      ]);
    });

    test('gives a released delivery to the next, uncounted', async () => {
      const { fence } = await acquire();
      expect(await store.release(delivery.key, fence)).toBe(true);
      expect(await acquire()).toMatchObject({ attempt: 1 });
    });

    test('ends a delivery whose failure is permanent', async () => {
      const { fence } = await acquire();
      expect(await store.fail(delivery.key, fence, { ...RETRY, permanent: true })).toBe('dead');
      expect(await claim()).toEqual({ state: 'dead' });
    });

    test('ends a delivery that kills its process each time, at the third crash', async () => {
      await acquire({ leaseMs: 1 });
      for (const attempt of [2, 3]) {
        const next = acquired(await takeOver());
        expect(next.attempt).toBe(attempt);
        await store.renew(delivery.key, next.fence, 1);
      }
      expect(await takeOver({ leaseMs: 1 })).toEqual({ state: 'dead' });
      expect(await claim()).toEqual({ state: 'dead' });
    });

    test('counts no claim that nobody has begun, as its answer was lost, but the first', async () => {
      await acquire({ leaseMs: 1 });
      for (let lost = 0; lost < 6; lost++) {
        expect(acquired(await takeOver({ leaseMs: 1 })).attempt).toBe(2);
      }
      const begun = acquired(await takeOver());
      await store.renew(delivery.key, begun.fence, 1);
      expect(acquired(await takeOver()).attempt).toBe(3);
    });

    test('says the same of a failure that is told twice, and counts it once', async () => {
      const { fence } = await acquire();
      expect(await store.fail(delivery.key, fence, RETRY)).toBe('retry');
      expect(await store.fail(delivery.key, fence, { ...RETRY, error: 'again' })).toBe('retry');
      const [failing] = await store.list({ state: 'failing' });
      expect(failing).toMatchObject({ attempts: 1, error: 'it threw' });
      const next = await acquire({ leaseMs: -1 });
      expect(await store.fail(delivery.key, fence, RETRY)).toBe('lost');
      // Of two attempts, one has failed: the other is the first crash.
      const last = await acquire({ maxCrashes: 2 });
      expect(last.fence).toBeGreaterThan(next.fence);
      const terms = { ...RETRY, permanent: true };
      expect(await store.fail(delivery.key, last.fence, terms)).toBe('dead');
      expect(await store.fail(delivery.key, last.fence, terms)).toBe('dead');
      const twice = newDelivery();
      const told = await acquire({}, twice);
      for (const _ of [1, 2]) await store.fail(twice.key, told.fence, RETRY);
      await acquire({ leaseMs: -1 }, twice);
      expect(await claim({ maxCrashes: 1 }, twice)).toEqual({ state: 'dead' });
    });

    test('takes a lease back that is given back twice, and counts it once', async () => {
      const { fence } = await acquire();
      await store.fail(delivery.key, fence, RETRY);
      const next = await acquire();
      expect(await store.release(delivery.key, next.fence)).toBe(true);
      expect(await store.release(delivery.key, next.fence)).toBe(true);
      expect(await store.release(delivery.key, fence)).toBe(false);
      expect(await acquire()).toMatchObject({ attempt: 2 });
    });

    test('remembers what is done for as long as the one asks who asks for the longest', async () => {
      const [claimed, retried] = [newDelivery(), newDelivery()];
      const { fence } = await acquire({ keepMs: KEEP_MS }, claimed);
      await store.complete(claimed.key, fence, 0);
      const first = await acquire({ keepMs: 0 }, retried);
      await store.fail(retried.key, first.fence, RETRY);
      const second = await acquire({ keepMs: KEEP_MS }, retried);
      await store.fail(retried.key, second.fence, RETRY);
      const third = await acquire({ keepMs: 0 }, retried);
      await store.complete(retried.key, third.fence, 0);
      expect(await store.purge(10)).toBe(0);
      expect(await claim({}, claimed)).toEqual({ state: 'done' });
      expect(await claim({}, retried)).toEqual({ state: 'done' });
    });

    test('counts failures apart from crashes', async () => {
      for (let failure = 0; failure < 5; failure++) {
        await store.fail(delivery.key, (await acquire()).fence, RETRY);
      }
      await acquire({ leaseMs: 1 });
      expect((await takeOver()).state).toBe('acquired');
    });

    test('never ends a delivery where crashes are not to count', async () => {
      await acquire({ leaseMs: 1 });
      for (let crash = 1; crash <= 8; crash++) {
        const next = acquired(await takeOver({ maxCrashes: Infinity }));
        expect(next.attempt).toBe(crash + 1);
        await store.renew(delivery.key, next.fence, 1);
      }
    });

    test('purges what is done and old, up to a limit, and nothing else', async () => {
      const old = [newDelivery(), newDelivery(), newDelivery()];
      for (const one of old) {
        await store.complete(one.key, (await acquire({ keepMs: 0 }, one)).fence, 0);
      }
      const forEver = newDelivery();
      await store.complete(forEver.key, (await acquire({}, forEver)).fence, Infinity);
      await acquire({ leaseMs: 60_000 });

      expect(await store.purge(2)).toBe(expires ? 0 : 2);
      expect(await store.purge(10)).toBe(expires ? 0 : 1);
      expect(await store.purge(10)).toBe(0);
      expect(await claim({}, forEver)).toEqual({ state: 'done' });
      expect((await claim()).state).toBe('busy');
      for (const one of old) expect(await claim({}, one)).toMatchObject({ attempt: 1 });
    });

    test('takes what is done for new once its time has come, though nothing was purged', async () => {
      const first = await acquire({ leaseMs: LONG_AGO_MS, keepMs: 0 });
      await store.fail(delivery.key, first.fence, RETRY);
      const second = await acquire({ keepMs: 0 });
      await store.completeStep(delivery.key, second.fence, 'mail', 'sent');
      expect(await store.complete(delivery.key, second.fence, 0)).toBe(true);
      const anew = { ...delivery, id: 'whl_2', proof: 'the proof' };
      const third = await acquire({ leaseMs: LONG_AGO_MS, keepMs: Infinity }, anew);
      expect(third).toMatchObject({ attempt: 1, steps: {} });
      const [stalled] = await store.list({ state: 'stalled' });
      expect(stalled).toMatchObject({ id: 'whl_2', attempts: 1, proof: 'the proof' });
      expect(stalled?.error).toBe(undefined);
    });

    test('keeps what is dead for a person, also where its time would have come', async () => {
      const { fence } = await acquire({ keepMs: 0 });
      await store.fail(delivery.key, fence, { ...RETRY, permanent: true });
      expect(await store.purge(10)).toBe(0);
      expect((await claim()).state).toBe('dead');
    });

    test('ends what its sender has given up, once it is old, and keeps it for a person', async () => {
      const late = { leaseMs: LONG_AGO_MS, keepMs: 0 };
      const [leased, other, effect] = [newDelivery(), newDelivery(), newDelivery()];
      await acquire(late, leased);
      await acquire(late, other);
      await acquire(late, { ...effect, body: undefined });
      await acquire({ keepMs: 0, leaseMs: 60_000 });
      // In memory, where nobody would find it, it is only forgotten to make room.
      expect(await store.purge(10)).toBe(store.durable ? 2 : 0);
      expect(await store.purge(10)).toBe(0);
      if (store.durable) {
        const [first, second] = await store.list({ state: 'dead', limit: 9 });
        expect([first?.key, second?.key]).toEqual([leased.key, other.key].sort());
        expect(first?.error).toMatch(/^abandoned/);
        expect((await claim({}, leased)).state).toBe('dead');
      }
      expect((await claim({}, effect)).state).toBe('acquired');
      expect((await claim()).state).toBe('busy');
    });

    test('lists what is long past due as stalled, with its body, a page at a time', async () => {
      const stalled = [newDelivery(), newDelivery(), newDelivery()];
      for (const one of stalled) {
        await acquire({ leaseMs: LONG_AGO_MS }, one);
      }
      await acquire();
      await acquire({ leaseMs: LONG_AGO_MS }, { ...newDelivery(), body: undefined });
      const first = await store.list({ state: 'stalled', limit: 2 });
      const rest = await store.list({ state: 'stalled', limit: 2, after: first[1]?.key });
      expect([...first, ...rest].map(({ key }) => key)).toEqual(
        stalled.map(({ key }) => key).sort(),
      );
      const { body, ...entry } =
        [...first, ...rest].find(({ key }) => key === stalled[0]?.key) ?? {};
      expect(Buffer.from(body ?? []).toString()).toBe('{"id":"ord_1"}');
      expect({ ...entry, body: undefined }).toEqual({
        ...stalled[0],
        receivedAt: new Date(stalled[0]?.receivedAt ?? 0),
        body: undefined,
        proof: undefined,
        state: 'stalled',
        attempts: 1,
        error: undefined,
        interrupted: true,
        orderId: 'ord_1',
        email: undefined,
        lastTriedAt: expect.any(Date),
        dueAt: expect.any(Date),
      });
      expect(await store.list({ state: 'dead', limit: 9 })).toEqual([]);
    });

    test('redrives what is dead as if it had never been tried, but for what is done', async () => {
      const { fence } = await acquire();
      await store.completeStep(delivery.key, fence, 'mail', 'sent');
      expect(await store.fail(delivery.key, fence, { ...RETRY, permanent: true })).toBe('dead');
      expect(await store.redrive(delivery.key)).toBe(true);
      expect(await store.list({ state: 'dead', limit: 9 })).toEqual([]);
      const next = await acquire({ leaseMs: LONG_AGO_MS });
      expect(next).toMatchObject({ attempt: 1, steps: { mail: 'sent' } });
      expect(next.fence).toBeGreaterThan(fence);
      // The failures are forgotten as well: none makes up for a crash.
      expect(await claim({ maxCrashes: 1 })).toEqual({ state: 'dead' });
    });

    test('redrives what is dead after crashes, which are forgotten', async () => {
      await acquire({ leaseMs: LONG_AGO_MS });
      expect((await claim({ maxCrashes: 1 })).state).toBe('dead');
      expect(await store.redrive(delivery.key)).toBe(true);
      expect(await acquire({ leaseMs: LONG_AGO_MS, maxCrashes: 1 })).toMatchObject({ attempt: 1 });
      expect((await claim({ maxCrashes: 2 })).state).toBe('acquired');
    });

    test('redrives what is stalled, and refuses what its last holder still wants to say', async () => {
      const { fence } = await acquire({ leaseMs: LONG_AGO_MS });
      expect(await store.redrive(delivery.key)).toBe(true);
      expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
      expect(await acquire()).toMatchObject({ attempt: 1 });
    });

    test('redrives nothing that is being processed, waits for a retry, or is done', async () => {
      const { fence } = await acquire();
      expect(await store.redrive(delivery.key)).toBe(false);
      expect(await store.fail(delivery.key, fence, RETRY)).toBe('retry');
      expect(await store.redrive(delivery.key)).toBe(false);
      expect(await acquire()).toMatchObject({ attempt: 2 });
      const done = newDelivery();
      const other = await acquire({}, done);
      await store.complete(done.key, other.fence, KEEP_MS);
      expect(await store.redrive(done.key)).toBe(false);
      expect(await claim({}, done)).toEqual({ state: 'done' });
    });

    test('takes names, texts and bodies of any kind', async () => {
      const odd: Claimable = {
        ...delivery,
        scope: 'a\u0000b\ud800"\'\\',
        id: '\u0000'.repeat(3),
        event: '💥'.repeat(50),
        body: Uint8Array.from({ length: 70_000 }, (_, index) => index % 256),
      };
      const { fence } = await acquire({}, odd);
      expect(await store.completeStep(odd.key, fence, 'x\u0000\ud800', 'y\u0000💥')).toBe(true);
      const terms = { ...RETRY, permanent: true, error: 'z\u0000'.repeat(5_000) };
      expect(await store.fail(odd.key, fence, terms)).toBe('dead');
      const [dead] = await store.list({ state: 'dead', limit: 9 });
      expect(Buffer.from(dead?.body ?? []).equals(Buffer.from(odd.body ?? []))).toBe(true);
      expect(dead?.event).toBe(odd.event);
      await store.redrive(odd.key);
      expect(Object.values((await acquire({}, odd)).steps)).toEqual(['y\u0000💥']);
    });

    test('keeps the first 2,000 characters of an error', async () => {
      const { fence } = await acquire();
      await store.fail(delivery.key, fence, { permanent: true, error: 'é'.repeat(10_000) });
      expect(await store.list({ state: 'dead' })).toMatchObject([{ error: 'é'.repeat(2_000) }]);
    });

    test('forgets the body of what is done', async () => {
      const { fence } = await acquire({ leaseMs: LONG_AGO_MS });
      await store.complete(delivery.key, fence, KEEP_MS);
      expect(await store.list({ state: 'stalled', limit: 9 })).toEqual([]);
      expect(await store.list({ state: 'dead', limit: 9 })).toEqual([]);
    });

    test('lists what is dead, with its body, a page at a time', async () => {
      const dead = [newDelivery(), newDelivery(), newDelivery()];
      for (const one of dead) {
        await store.fail(one.key, (await acquire({}, one)).fence, { ...RETRY, permanent: true });
      }
      await acquire();
      const first = await store.list({ state: 'dead', limit: 2 });
      const rest = await store.list({ state: 'dead', limit: 2, after: first[1]?.key });
      const keys = dead.map(({ key }) => key).sort();
      expect([...first, ...rest].map(({ key }) => key)).toEqual(keys);
      expect(first[0]).toMatchObject({
        state: 'dead',
        attempts: 1,
        error: 'it threw',
        scope: 'shop',
      });
      expect(Buffer.from(first[0]?.body ?? []).toString()).toBe('{"id":"ord_1"}');
      expect(await store.list({ state: 'stalled', limit: 9 })).toEqual([]);
    });

    test('lists what is of one scope, a page at a time', async () => {
      const other = { ...newDelivery(), scope: 'books' };
      const games = [newDelivery(), newDelivery(), newDelivery()];
      for (const one of [...games, other]) {
        await store.fail(one.key, (await acquire({}, one)).fence, { ...RETRY, permanent: true });
      }
      const listed = await store.list({ state: 'dead', scope: 'books', limit: 1 });
      expect(listed.map(({ key }) => key)).toEqual([other.key]);
      const first = await store.list({ state: 'dead', scope: 'shop', limit: 2 });
      const rest = await store.list({
        state: 'dead',
        scope: 'shop',
        limit: 2,
        after: first[1]?.key,
      });
      const keys = games.map(({ key }) => key).sort();
      expect([...first, ...rest].map(({ key }) => key)).toEqual(keys);
      expect(await store.list({ state: 'dead', limit: 9 })).toHaveLength(4);
      expect(await store.count({ state: 'dead', scope: 'shop' })).toBe(3);
      expect(await store.count({ state: 'dead', scope: 'shops' })).toBe(0);
    });

    test('does not list an effect, which has no body to process again', async () => {
      const effect = { ...delivery, body: undefined };
      await store.fail(effect.key, (await acquire({}, effect)).fence, {
        ...RETRY,
        permanent: true,
      });
      expect(await store.list({ state: 'dead', limit: 9 })).toEqual([]);
    });

    test.runIf(age)('finds a failed delivery stalled that nobody tries again', async () => {
      const { fence } = await acquire();
      await store.fail(delivery.key, fence, RETRY);
      await age?.(delivery.key);
      expect(await store.list({ state: 'failing' })).toEqual([]);
      const [stalled] = await store.list({ state: 'stalled' });
      expect(stalled).toMatchObject({ key: delivery.key, error: 'it threw', interrupted: false });
      expect(await store.redrive(delivery.key)).toBe(true);
      expect(await acquire()).toMatchObject({ attempt: 1 });
    });

    testListing({
      store: () => store,
      newDelivery,
      claim: async (terms, subject) => (await acquire(terms, subject)).fence,
    });

    testLimits({
      store: () => store,
      newDelivery,
      claim: async (subject) => (await acquire({ leaseMs: 60_000 }, subject)).fence,
      async outlive(subject) {
        const { fence } = await acquire({ leaseMs: LONG_AGO_MS, keepMs: 0 }, subject);
        // In memory, nothing is abandoned, and only what is done is old.
        if (!store.durable) await store.complete(subject.key, fence, 0);
      },
    });

    test('does what the model of the state machine does, whatever is asked of it', {
      timeout: 240_000,
    }, async () => {
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          const tested = await make();
          const model = new ModelStore(tested.durable);
          expect(await answersOf(tested, history)).toEqual(await answersOf(model, history));
        }),
        { numRuns: 60 },
      );
    });
  });
}

export function newDelivery(): Claimable {
  return {
    key: randomUUID().replaceAll('-', '').repeat(2),
    scope: 'shop',
    id: 'whl_1',
    event: 'order:paid',
    receivedAt: 1_790_000_000_000,
    body: new TextEncoder().encode('{"id":"ord_1"}'),
  };
}

function acquired(claim: Claim): Extract<Claim, { state: 'acquired' }> {
  if (claim.state === 'acquired') return claim;
  throw new Error(`expected to acquire the lease, but it is ${claim.state}`);
}
