import { type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Idempotency } from '../../src/process/idempotency.js';
import type { Lease, Work } from '../../src/process/lease.js';
import { Load } from '../../src/process/load.js';
import { forward } from '../../src/stores/contract.js';

const DONE: Work = { state: 'done', ran: ['deliver'] };
const FAILED: Work = { state: 'failed', error: 'it threw', ran: [] };
const CLOSED = { outcome: 'unavailable', ran: [], key: 'a'.repeat(64) };
const DONE_BEFORE = { outcome: 'duplicate', ran: [], key: 'a'.repeat(64) };
const NOBODY = { error() {}, shed() {} };
/** The reports about work, besides its outcome. */
const told: unknown[] = [];
beforeEach(() => told.splice(0));
const KEEP = { keepMs: 60_000, onError: (error: unknown) => told.push(error) };
const toldOf = (code: string) => expect(told).toContainEqual(expect.objectContaining({ code }));
const timing = { leaseMs: 100, renewMs: 30, timeoutMs: 60_000, waitMs: 50 };
const subject = {
  key: 'a'.repeat(64),
  scope: '',
  id: 'whl_1',
  event: 'order:paid',
  receivedAt: 0,
  body: new Uint8Array(2),
};

function setUp(store: IdempotencyStore = memoryStore(), changes: Partial<typeof timing> = {}) {
  const errors: unknown[] = [];
  const process = () =>
    new Idempotency(store, { ...timing, ...changes }, new Load(NOBODY), (error) =>
      errors.push(error),
    );
  return { store, errors, process };
}

/** A store whose verbs can be replaced one by one. */
const storeWith = (changes: Partial<IdempotencyStore>, base = memoryStore()) =>
  forward(base, changes);

function deferred<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('work under a lease', () => {
  test('is done once', async () => {
    const { process } = setUp();
    const work = vi.fn(async () => DONE);
    expect(await process().doOnce(subject, KEEP, work)).toEqual({
      outcome: 'handled',
      ran: ['deliver'],
      attempt: 1,
      key: subject.key,
    });
    expect(await process().doOnce(subject, KEEP, work)).toEqual(DONE_BEFORE);
    expect(work).toHaveBeenCalledOnce();
  });

  test('that failed can run again at once', async () => {
    const { process } = setUp();
    await process().doOnce(subject, KEEP, async () => FAILED);
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toMatchObject({ attempt: 2 });
  });

  test('that was busy in another process does not count as an attempt', async () => {
    const { process } = setUp();
    await process().doOnce(subject, KEEP, async () => ({ state: 'busy', ran: [] }));
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toMatchObject({ attempt: 1 });
  });

  test('that the store cannot claim does not count as a claim that waits', async () => {
    const load = new Load(NOBODY);
    const asked = vi.spyOn(load, 'asked');
    const answered = vi.spyOn(load, 'answered');
    const store = storeWith({ claim: () => Promise.reject(new Error('it is down')) });
    const process = new Idempotency(store, timing, load, () => {});
    expect(await process.doOnce(subject, KEEP, async () => DONE)).toEqual(CLOSED);
    const waiting = asked.mock.results.map(({ value }) => value);
    expect(waiting.length).toBeGreaterThan(0);
    expect(answered.mock.calls.flat()).toEqual(waiting);
  });

  test('is claimed again by the same owner if the answer was lost', async () => {
    const base = memoryStore();
    let isLost = true;
    const claim: IdempotencyStore['claim'] = async (...args) => {
      const granted = await base.claim(...args);
      if (!isLost) return granted;
      isLost = false;
      throw new Error('connection reset');
    };
    const { process } = setUp(storeWith({ claim }, base));
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toMatchObject({
      outcome: 'handled',
      attempt: 1,
    });
  });

  test('does not start in a process that was frozen until its lease expired', async () => {
    const base = memoryStore();
    const frozen = deferred<void>();
    let isFirst = true;
    const claim: IdempotencyStore['claim'] = async (...args) => {
      const granted = await base.claim(...args);
      if (isFirst) {
        isFirst = false;
        await frozen.promise;
      }
      return granted;
    };
    const { process } = setUp(storeWith({ claim }, base));
    const work = vi.fn(async () => DONE);
    const first = process().doOnce(subject, KEEP, work);
    const other = setUp(base, { waitMs: 10_000 });
    expect(await other.process().doOnce(subject, KEEP, async () => DONE)).toMatchObject({
      outcome: 'handled',
      attempt: 2,
    });
    frozen.resolve();
    expect(await first).toEqual(DONE_BEFORE);
    expect(work).not.toHaveBeenCalled();
  });

  test('starts in a process that was frozen if no other process has taken over', async () => {
    const base = memoryStore();
    let isFirst = true;
    const claim: IdempotencyStore['claim'] = async (...args) => {
      const granted = await base.claim(...args);
      if (isFirst) await new Promise((resolve) => setTimeout(resolve, timing.leaseMs));
      isFirst = false;
      return granted;
    };
    const { process } = setUp(storeWith({ claim }, base));
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toMatchObject({
      outcome: 'handled',
      attempt: 1,
    });
  });

  test('is renewed at once if the claim was answered slowly', async () => {
    const base = memoryStore();
    const renewed = deferred<void>();
    const claim: IdempotencyStore['claim'] = async (...args) => {
      const granted = await base.claim(...args);
      await new Promise((resolve) => setTimeout(resolve, 60));
      return granted;
    };
    const renew: IdempotencyStore['renew'] = async (...args) => {
      renewed.resolve();
      return base.renew(...args);
    };
    // The answer comes after the time of the first renewal, and well before the lease expires.
    const { process } = setUp(storeWith({ claim, renew }, base), { renewMs: 50, leaseMs: 60_000 });
    let isRenewed = false;
    const held = process().doOnce(subject, KEEP, async () => {
      const startedAt = performance.now();
      await renewed.promise;
      isRenewed = performance.now() - startedAt < 45;
      return DONE;
    });
    expect(await held).toMatchObject({ outcome: 'handled' });
    expect(isRenewed).toBe(true);
  });

  test('is renewed while an earlier renewal hangs, as over a lost connection', async () => {
    const base = memoryStore();
    let calls = 0;
    const renew: IdempotencyStore['renew'] = (...args) =>
      ++calls === 1 ? new Promise(() => {}) : base.renew(...args);
    const { process } = setUp(storeWith({ renew }, base), { renewMs: 20, leaseMs: 200 });
    const working = () => new Promise<Work>((resolve) => setTimeout(() => resolve(DONE), 400));
    expect(await process().doOnce(subject, KEEP, working)).toMatchObject({ outcome: 'handled' });
  });

  test('is renewed for as long as it takes, and no longer', async () => {
    const base = memoryStore();
    const renew = vi.fn<IdempotencyStore['renew']>((...args) => base.renew(...args));
    const { process } = setUp(storeWith({ renew }, base), { renewMs: 5, leaseMs: 60_000 });
    const { promise, resolve } = deferred<Work>();
    const held = process().doOnce(subject, KEEP, () => promise);
    await vi.waitUntil(() => renew.mock.calls.length >= 3);
    resolve(DONE);
    expect(await held).toMatchObject({ outcome: 'handled' });
    const calls = renew.mock.calls.length;
    await new Promise((settle) => setTimeout(settle, 20));
    expect(renew).toHaveBeenCalledTimes(calls);
    expect(renew).toHaveBeenLastCalledWith(subject.key, expect.any(Number), 60_000);
  });

  test('of another process is waited for', async () => {
    const { process } = setUp(memoryStore(), { waitMs: 10_000 });
    const { promise, resolve } = deferred<Work>();
    const first = process().doOnce(subject, KEEP, () => promise);
    const second = process().doOnce(subject, KEEP, async () => DONE);
    resolve(DONE);
    expect(await first).toMatchObject({ outcome: 'handled' });
    expect(await second).toEqual(DONE_BEFORE);
  });

  test('has a new owner for each claim', async () => {
    const claim = vi.fn<IdempotencyStore['claim']>(async () => ({ state: 'done' }));
    const { process } = setUp(storeWith({ claim }));
    const [one, other] = [process(), process()];
    for (const idempotency of [one, one, other]) await idempotency.doOnce(subject, KEEP, vi.fn());
    const owners = claim.mock.calls.map(([, { owner }]) => owner);
    expect(new Set(owners).size).toBe(3);
  });

  test('of another process that takes too long is answered busy, with a time to retry', async () => {
    const { process } = setUp(memoryStore(), { leaseMs: 60_000 });
    const { promise, resolve } = deferred<Work>();
    const first = process().doOnce(subject, KEEP, () => promise);
    const second = await process().doOnce(subject, KEEP, async () => DONE);
    expect(second).toMatchObject({ outcome: 'busy', retryAfterMs: expect.any(Number) });
    resolve(DONE);
    await first;
  });
});

describe('a lease that ends early', () => {
  test('because the work takes too long aborts the signal, and counts as a crash', async () => {
    const fail = vi.fn();
    const { process } = setUp(storeWith({ fail }), { timeoutMs: 20 });
    const held = await process().doOnce(subject, KEEP, async (lease) => {
      const { promise, resolve } = deferred<Work>();
      lease.signal.addEventListener('abort', () => resolve({ ...FAILED, error: 'aborted' }));
      return promise;
    });
    expect(held).toMatchObject({ outcome: 'failed', attempt: 1 });
    toldOf('handler_timeout');
    expect(fail).not.toHaveBeenCalled();
    const next = await vi.waitUntil(async () => {
      const again = await process().doOnce(subject, KEEP, async () => DONE);
      return again.outcome === 'handled' && again;
    });
    expect(next).toMatchObject({ attempt: 2 });
  });

  test('is not extended by a store that hangs', async () => {
    const store = storeWith({ renew: () => new Promise(() => {}) });
    const { process } = setUp(store, { timeoutMs: 80, renewMs: 10, leaseMs: 10_000 });
    const held = await process().doOnce(subject, KEEP, () => new Promise<Work>(() => {}));
    expect(held).toMatchObject({ outcome: 'failed' });
    toldOf('handler_timeout');
  });

  test('still records late work if no process has taken over', async () => {
    const { process } = setUp(memoryStore(), { timeoutMs: 10 });
    const { promise, resolve } = deferred<Work>();
    expect(await process().doOnce(subject, KEEP, () => promise)).toMatchObject({
      outcome: 'failed',
    });
    toldOf('handler_timeout');
    resolve(DONE);
    const work = vi.fn(async () => DONE);
    await vi.waitUntil(async () => {
      return (await process().doOnce(subject, KEEP, work)).outcome === 'duplicate';
    });
    expect(work).not.toHaveBeenCalled();
  });

  test('that never ends delays the responses of others for half a minute, and a stop for as long as it may take', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { process } = setUp(memoryStore(), { timeoutMs: 10 });
    const idempotency = process();
    const running = idempotency.doOnce(subject, KEEP, () => new Promise<Work>(() => {}));
    await vi.advanceTimersByTimeAsync(10);
    expect(await running).toMatchObject({ outcome: 'failed' });
    const waited = vi.fn();
    void idempotency.recording?.then(waited);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(waited).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(waited).toHaveBeenCalled();
    expect(idempotency.recording).toBeUndefined();
    const closing = idempotency.close(60_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await closing).toBe(false);
  });

  test('delays the responses of others until its result is recorded, even at a later attempt', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const base = memoryStore();
    let isDown = true;
    const complete: IdempotencyStore['complete'] = async (...args) => {
      if (isDown) throw new Error('the store restarts');
      return base.complete(...args);
    };
    const { process } = setUp(storeWith({ complete }, base), { timeoutMs: 10 });
    const idempotency = process();
    const { promise, resolve } = deferred<Work>();
    const running = idempotency.doOnce(subject, KEEP, () => promise);
    await vi.advanceTimersByTimeAsync(10);
    expect(await running).toMatchObject({ outcome: 'failed' });
    const waited = vi.fn();
    void idempotency.recording?.then(waited);
    resolve(DONE);
    // The first attempts to record it are over by then.
    await vi.advanceTimersByTimeAsync(5_000);
    expect(waited).not.toHaveBeenCalled();
    isDown = false;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(waited).toHaveBeenCalled();
    expect(await base.isDone?.(subject.key)).toBe(true);
  });

  test('because another process took over rejects the late result', async () => {
    const base = memoryStore();
    // This process is frozen: its renewals do not reach the store.
    const claim: IdempotencyStore['claim'] = (delivery, terms) =>
      base.claim(delivery, { ...terms, leaseMs: 1 });
    const frozen = setUp(storeWith({ claim, renew: async () => true }, base));
    const { promise, resolve } = deferred<Work>();
    const first = frozen.process().doOnce(subject, KEEP, () => promise);
    const { process } = setUp(base);
    const second = await vi.waitUntil(async () => {
      const held = await process().doOnce(subject, KEEP, async () => FAILED);
      return held.outcome === 'failed' && held;
    });
    expect(second).toMatchObject({ attempt: 2 });
    resolve(DONE);
    expect(await first).toMatchObject({ outcome: 'busy' });
    toldOf('lease_lost');
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toMatchObject({ attempt: 3 });
  });

  test('because a renewal finds it lost aborts the signal', async () => {
    const { process } = setUp(storeWith({ renew: async () => false }));
    let signal: AbortSignal | undefined;
    const held = await process().doOnce(subject, KEEP, (lease: Lease) => {
      signal = lease.signal;
      return new Promise<Work>(() => {});
    });
    expect(held).toMatchObject({ outcome: 'busy' });
    toldOf('lease_lost');
    expect(signal?.reason).toMatchObject({ code: 'lease_lost' });
  });

  test('because it could not be renewed aborts the signal when it expires', async () => {
    const renew = async () => {
      throw new Error('the store is down');
    };
    const { process } = setUp(storeWith({ renew }));
    const held = await process().doOnce(subject, KEEP, () => new Promise<Work>(() => {}));
    expect(held).toMatchObject({ outcome: 'busy' });
    toldOf('lease_lost');
  });
});

describe('a store that fails', () => {
  test('to claim prevents the work', async () => {
    const claim = async () => {
      throw new Error('the store is down');
    };
    const { process } = setUp(storeWith({ claim }));
    const work = vi.fn(async () => DONE);
    expect(await process().doOnce(subject, KEEP, work)).toMatchObject({
      outcome: 'unavailable',
    });
    expect(told).toEqual([
      expect.objectContaining({
        code: 'store_unavailable',
        cause: expect.objectContaining({ message: 'the store is down' }),
      }),
    ]);
    expect(work).not.toHaveBeenCalled();
  });

  test('to complete for a moment is tried again', async () => {
    const base = memoryStore();
    const complete = vi
      .fn<IdempotencyStore['complete']>((...args) => base.complete(...args))
      .mockRejectedValueOnce(new Error('connection reset'));
    const { process, errors } = setUp(storeWith({ complete }, base));
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toMatchObject({
      outcome: 'handled',
    });
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toEqual(DONE_BEFORE);
    expect(errors).toEqual([]);
  });

  test('to complete for good is reported, and the work counts as done', async () => {
    const complete = async () => {
      throw new Error('the store is down');
    };
    const { process, errors } = setUp(storeWith({ complete }));
    const closing = process();
    expect(await closing.doOnce(subject, KEEP, async () => DONE)).toMatchObject({
      outcome: 'handled',
    });
    await closing.close(0);
    await vi.waitFor(() =>
      expect(errors).toEqual([expect.objectContaining({ code: 'outcome_unrecorded' })]),
    );
  });

  test('to complete for longer than a sender waits records the work when it is back', async () => {
    const base = memoryStore();
    let isDown = true;
    const complete: IdempotencyStore['complete'] = async (...args) => {
      if (isDown) throw new Error('the store restarts');
      return base.complete(...args);
    };
    const { process, errors } = setUp(storeWith({ complete }, base), { leaseMs: 5_000 });
    const first = process();
    expect(await first.doOnce(subject, KEEP, async () => DONE)).toMatchObject({
      outcome: 'handled',
    });
    setTimeout(() => {
      isDown = false;
    }, 300);
    await first.close(5_000);
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toEqual(DONE_BEFORE);
    expect(errors).toEqual([]);
  });

  test('to complete for longer than the lease is reported, and still records the work', async () => {
    const base = memoryStore();
    let isDown = true;
    const complete: IdempotencyStore['complete'] = async (...args) => {
      if (isDown) throw new Error('the store restarts');
      return base.complete(...args);
    };
    const { process, errors } = setUp(storeWith({ complete }, base));
    const first = process();
    await first.doOnce(subject, KEEP, async () => DONE);
    await vi.waitFor(() => expect(errors).toHaveLength(1));
    isDown = false;
    await first.close(5_000);
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toEqual(DONE_BEFORE);
    expect(errors).toEqual([expect.objectContaining({ code: 'outcome_unrecorded' })]);
  });

  test('to record one handler while another one fails records it before the retry', async () => {
    const base = memoryStore();
    let isDown = true;
    const whenUp =
      <Args extends unknown[], Result>(verb: (...args: Args) => Promise<Result>) =>
      async (...args: Args) => {
        if (isDown) throw new Error('the store restarts');
        return verb(...args);
      };
    const store = storeWith(
      {
        completeStep: whenUp((...args) => base.completeStep(...args)),
        fail: whenUp((...args) => base.fail(...args)),
      },
      base,
    );
    const { process } = setUp(store, { leaseMs: 5_000 });
    const first = process();
    await first.doOnce(subject, KEEP, async (lease) => {
      await lease.completeStep('one', null);
      return FAILED;
    });
    setTimeout(() => {
      isDown = false;
    }, 100);
    await first.close(5_000);
    let done: unknown;
    await process().doOnce(subject, KEEP, async (lease) => {
      done = lease.steps;
      return DONE;
    });
    expect(done).toEqual({ one: null });
  });
});

describe('a delivery whose lease expires each time, as if it killed its process', () => {
  async function crash(store: IdempotencyStore, times: number) {
    for (let i = 0; i < times; i++) {
      const owner = `${i}`;
      const claim = await store.claim(subject, {
        owner,
        leaseMs: 0,
        ...KEEP,
        maxCrashes: Infinity,
      });
      if (claim.state === 'acquired') await store.renew(subject.key, claim.fence, 0);
    }
  }
  const durable = () => storeWith({ durable: true });

  test('ends dead in a durable store, which parks it', async () => {
    const store = durable();
    await crash(store, 5);
    const { process } = setUp(store);
    const work = vi.fn(async () => DONE);
    expect(await process().doOnce(subject, KEEP, work)).toMatchObject({ outcome: 'parked' });
    expect(work).not.toHaveBeenCalled();
    expect(await store.list({ state: 'dead', limit: 9 })).toHaveLength(1);
  });

  test('gets five attempts', async () => {
    const store = durable();
    await crash(store, 4);
    const { process } = setUp(store);
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toMatchObject({ attempt: 5 });
  });

  test('is dead after five, however soon it kills its process', async () => {
    const base = durable();
    for (let crash = 0; crash < 5; crash++) {
      let isAlive = true;
      const store = storeWith(
        {
          durable: true,
          renew: (...args) => (isAlive ? base.renew(...args) : new Promise(() => {})),
        },
        base,
      );
      const begun = vi.fn(async (lease: Lease) => {
        await lease.begin();
        isAlive = false;
        return new Promise<Work>(() => {});
      });
      const { process } = setUp(store, { waitMs: 0 });
      void process().doOnce(subject, KEEP, begun);
      await vi.waitUntil(() => !isAlive);
      await new Promise((resolve) => setTimeout(resolve, timing.leaseMs + 20));
    }
    const { process } = setUp(base);
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toEqual({
      outcome: 'parked',
      ran: [],
      key: subject.key,
    });
  });

  test('is not dead if only the answers to its claims were lost', async () => {
    const base = durable();
    let isLost = true;
    const store = storeWith(
      {
        durable: true,
        claim: async (...args) => {
          const claim = await base.claim(...args);
          if (isLost) throw new Error('the answer is lost');
          return claim;
        },
      },
      base,
    );
    const { process } = setUp(store, { leaseMs: 10, renewMs: 5, waitMs: 0 });
    const work = vi.fn(async () => DONE);
    for (let time = 0; time < 6; time++) {
      expect(await process().doOnce(subject, KEEP, work)).toMatchObject({ outcome: 'unavailable' });
    }
    isLost = false;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await process().doOnce(subject, KEEP, work)).toMatchObject({ outcome: 'handled' });
    expect(work).toHaveBeenCalledOnce();
  });

  test('is tried forever in a store that cannot park it', async () => {
    const store = memoryStore();
    await crash(store, 9);
    const { process } = setUp(store);
    expect(await process().doOnce(subject, KEEP, async () => DONE)).toMatchObject({ attempt: 10 });
  });

  test('is tried forever if it is an effect, which cannot be parked', async () => {
    const store = durable();
    await crash(store, 9);
    const { process } = setUp(store);
    const effect = { ...subject, body: undefined };
    expect(await process().doOnce(effect, KEEP, async () => DONE)).toMatchObject({ attempt: 10 });
  });
});

describe('closing', () => {
  test('accepts no more claims', async () => {
    const { process } = setUp();
    const idempotency = process();
    await idempotency.close(1_000);
    expect(await idempotency.doOnce(subject, KEEP, async () => DONE)).toEqual(CLOSED);
  });

  test('stops retrying records that the store has not accepted', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const complete = vi.fn(() => Promise.reject(new Error('it is down')));
    const idempotency = setUp(storeWith({ complete })).process();
    const done = idempotency.doOnce(subject, KEEP, async () => DONE);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await done).toMatchObject({ outcome: 'handled' });
    const closing = idempotency.close(5_000);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await closing).toBe(false);
    complete.mockClear();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(complete).not.toHaveBeenCalled();
  });

  test('releases a claim whose work has not started', async () => {
    const base = memoryStore();
    const { promise, resolve } = deferred<void>();
    const claim: IdempotencyStore['claim'] = async (...args) => {
      await promise;
      return base.claim(...args);
    };
    const idempotency = setUp(storeWith({ claim }, base)).process();
    const work = vi.fn(async () => DONE);
    const held = idempotency.doOnce(subject, KEEP, work);
    const closed = idempotency.close(1_000);
    resolve();
    await closed;
    expect(await held).toEqual(CLOSED);
    expect(work).not.toHaveBeenCalled();
    expect(
      await setUp(base)
        .process()
        .doOnce(subject, KEEP, async () => DONE),
    ).toMatchObject({ attempt: 1 });
  });
});
