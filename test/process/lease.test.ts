import { type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Idempotency } from '../../src/process/idempotency.js';
import { Lease, type Work } from '../../src/process/lease.js';
import { Load } from '../../src/process/load.js';
import { forward } from '../../src/stores/contract.js';
import type { StoreTransactions } from '../../src/stores/store.js';
import { refuseStep } from '../../src/stores/transactions.js';
import { durableStore } from '../support/durable.js';
import { gate } from '../support/gate.js';

const timing = { leaseMs: 100, renewMs: 30, timeoutMs: 1_000, waitMs: 0 };
const claim = { fence: 7, attempt: 1, steps: {} };
const subject = {
  key: 'a'.repeat(64),
  scope: '',
  id: 'whl_1',
  event: 'order:paid',
  receivedAt: 0,
  body: undefined,
};
const LOAD = new Load({ error() {}, shed() {} });
const FAILED: Work = { state: 'failed', error: 'it threw', ran: [] };
const DONE: Work = { state: 'done', ran: ['deliver'] };

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

const storeWith = (changes: Partial<IdempotencyStore>) => forward(memoryStore(), changes);

describe('a lease', () => {
  test("lasts from the time of its renewal's request, not of the answer", async () => {
    const renew = async () => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      return true;
    };
    const lease = new Lease(storeWith({ renew }), subject.key, claim, timing);
    await vi.advanceTimersByTimeAsync(30 + 60);
    expect(lease.leftMs).toBe(30 + timing.leaseMs - (30 + 60));
    lease.stop();
  });

  test('is not renewed by a renewal that failed before it was stopped', async () => {
    const renew = () => Promise.reject(new Error('the store restarts'));
    const long = { ...timing, leaseMs: 2_000 };
    const lease = new Lease(storeWith({ renew }), subject.key, claim, long);
    await vi.advanceTimersByTimeAsync(timing.renewMs + 10);
    lease.stop();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lease.leftMs).toBe(2_000 - (timing.renewMs + 10 + 1_000));
  });

  test.each([
    ['goes on if the store renews it', async () => true, undefined],
    ['is lost if another process has taken over', async () => false, 'lost'],
    ['is lost if the store is down', () => Promise.reject(new Error('down')), 'lost'],
  ])('that expired while the process stood still %s', async (_, renew, end) => {
    const slow = { ...timing, timeoutMs: 60_000 };
    const lease = new Lease(storeWith({ renew }), subject.key, claim, slow);
    const ended = vi.fn<(work: Work) => void>();
    void lease.until(new Promise(() => {})).then(ended);
    // No answer arrives meanwhile, and then all timers are due.
    vi.advanceTimersByTime(5 * timing.leaseMs);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(ended.mock.calls.map(([{ state }]) => state)).toEqual(end ? [end] : []);
    expect(lease.hasEnded()).toBe(end !== undefined);
    lease.stop();
  });

  test('that another process has taken over is not settled after a step is rejected', async () => {
    let isDown = true;
    const fail = vi.fn(async () => 'retry' as const);
    const completeStep = async () => {
      if (isDown) throw new Error('the store restarts');
      return false;
    };
    const lease = new Lease(storeWith({ completeStep, fail }), subject.key, claim, timing);
    const noted = lease.completeStep('one', null);
    await vi.runAllTimersAsync();
    await noted.catch(() => {});
    isDown = false;
    const settled = await lease.settle(FAILED, { keepMs: 60_000, permanent: false });
    expect([settled, fail.mock.calls.length]).toEqual([{ state: 'lost', ran: [] }, 0]);
    lease.stop();
  });
});

describe('a lease that another process has taken over', () => {
  test('names the handlers that have finished, if their work is lost', async () => {
    const process = new Idempotency(
      storeWith({ complete: async () => false }),
      timing,
      LOAD,
      () => {},
    );
    const ended = await process.doOnce(subject, { keepMs: 1, onError() {} }, async () => DONE);
    expect(ended).toMatchObject({ outcome: 'busy', ran: ['deliver'] });
  });

  test('lets no handler go on after a step', async () => {
    const store = storeWith({ completeStep: async () => false });
    const lease = new Lease(store, subject.key, claim, timing);
    await expect(lease.completeStep('one', null)).rejects.toMatchObject({ code: 'lease_lost' });
    lease.stop();
  });

  test('lets no handler begin', async () => {
    const store = storeWith({ renew: async () => false });
    const lease = new Lease(store, subject.key, claim, timing, { recordsBeginning: true });
    expect(await lease.begin()).toBe(false);
    lease.stop();
  });
});

describe('a transaction under a lease', () => {
  const RECORDS_A_STEP = { effect: undefined, record: { step: '["sell"]' } };

  /** Transactions that begin at once, and take some time. */
  function transactions(
    onBegun: () => void,
    ms = 10,
    needsLease?: boolean,
  ): StoreTransactions<unknown> {
    return {
      check() {},
      refuseStep,
      async run({ begin }) {
        await begin(needsLease);
        onBegun();
        await new Promise((resolve) => setTimeout(resolve, ms));
        return { state: 'done' };
      },
    };
  }

  test('begins after a pending renewal, which would otherwise wait for the transaction', async () => {
    const { opened, open } = gate<boolean>();
    const lease = new Lease(storeWith({ renew: () => opened }), subject.key, claim, timing);
    await vi.advanceTimersByTimeAsync(timing.renewMs);
    const onBegun = vi.fn();
    const running = lease.runInTransaction(transactions(onBegun), RECORDS_A_STEP, () => {});
    await vi.advanceTimersByTimeAsync(20);
    expect(onBegun).not.toHaveBeenCalled();
    open(true);
    await vi.advanceTimersByTimeAsync(20);
    expect(onBegun).toHaveBeenCalledOnce();
    await running;
    lease.stop();
  });

  test('renews the lease meanwhile if it does not hold the delivery, as on D1', async () => {
    const renew = vi.fn(async () => true);
    const lease = new Lease(storeWith({ renew }), subject.key, claim, timing);
    const slow = transactions(() => {}, timing.leaseMs + 40, true);
    const running = lease.runInTransaction(slow, RECORDS_A_STEP, () => {});
    await vi.advanceTimersByTimeAsync(timing.leaseMs + 20);
    expect(renew.mock.calls.length).toBe(Math.floor((timing.leaseMs + 20) / timing.renewMs));
    expect(lease.hasEnded()).toBe(false);
    await vi.advanceTimersByTimeAsync(20);
    await running;
    lease.stop();
  });

  test('renews the lease for the handlers after it, even if it took longer than a lease', async () => {
    const renew = vi.fn(async () => true);
    const lease = new Lease(storeWith({ renew }), subject.key, claim, timing);
    const ms = timing.leaseMs + 40;
    const running = lease.runInTransaction(
      transactions(() => {}, ms),
      RECORDS_A_STEP,
      () => {},
    );
    await vi.advanceTimersByTimeAsync(ms);
    await running;
    expect([lease.hasEnded(), lease.leftMs]).toEqual([false, timing.leaseMs]);
    expect(renew).toHaveBeenCalledOnce();
    lease.stop();
  });

  test('is still held if it fails after longer than a lease', async () => {
    const renew = vi.fn(async () => true);
    const lease = new Lease(storeWith({ renew }), subject.key, claim, timing);
    const failing: StoreTransactions<unknown> = {
      ...transactions(() => {}),
      async run({ begin }) {
        await begin();
        await new Promise((resolve) => setTimeout(resolve, timing.leaseMs + 40));
        throw new Error('no keys left');
      },
    };
    const last = { effect: undefined, record: { keepMs: 60_000 } };
    const running = lease.runInTransaction(failing, last, () => {});
    const failed = expect(running).rejects.toThrow('no keys left');
    await vi.advanceTimersByTimeAsync(timing.leaseMs + 40);
    await failed;
    expect([lease.hasEnded(), lease.leftMs]).toEqual([false, timing.leaseMs]);
    lease.stop();
  });
});

describe('a lease after a transaction that took longer than it', () => {
  const slow: StoreTransactions<unknown> = {
    check() {},
    refuseStep,
    async run({ begin }) {
      await begin();
      await new Promise((resolve) => setTimeout(resolve, timing.leaseMs + 40));
      return { state: 'done' };
    },
  };

  test.each<[string, () => IdempotencyStore['renew']]>([
    [
      'its renewal takes long enough for the next one to be due',
      () => async () => {
        await new Promise((resolve) => setTimeout(resolve, 2 * timing.renewMs));
        return true;
      },
    ],
    [
      'its renewal fails once',
      () => vi.fn(async () => true).mockRejectedValueOnce(new Error('the store restarts')),
    ],
  ])('is still held, even if %s', async (_, renewal) => {
    const lease = new Lease(storeWith({ renew: renewal() }), subject.key, claim, timing);
    const record = { effect: undefined, record: { step: '["sell"]' } };
    const running = lease.runInTransaction(slow, record, () => {});
    await vi.advanceTimersByTimeAsync(timing.leaseMs + 40 + 3 * timing.renewMs);
    expect(await running).toEqual({ state: 'done' });
    expect(lease.hasEnded()).toBe(false);
    lease.stop();
  });
});

test('a renewal that is repeated does not revive a lease that has lapsed meanwhile', async () => {
  const asked: number[] = [];
  const renew = vi.fn(async (_: string, __: number, leaseMs: number) => {
    asked.push(leaseMs);
    if (asked.length < 3) throw new Error('the store restarts');
    return true;
  });
  const lease = new Lease(storeWith({ renew }), subject.key, claim, timing);
  await vi.advanceTimersByTimeAsync(timing.renewMs + 60);
  lease.stop();
  const lapsing = lease.lapse();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await lapsing).toBe(true);
  expect(asked.at(-1)).toBe(0);
});

describe('work under a lease', () => {
  test('that failed after its timeout is parked at the last attempt', async () => {
    const base = memoryStore();
    const fail = vi.fn(base.fail);
    const store = durableStore(() => ({ fail }), base);
    const process = new Idempotency(store, timing, LOAD, () => {});
    const work = () =>
      new Promise<Work>((resolve) => setTimeout(() => resolve(FAILED), timing.timeoutMs + 20));
    const terms = { keepMs: 60_000, lastAttempt: true, onError() {} };
    const ended = process.doOnce({ ...subject, body: new Uint8Array(2) }, terms, work);
    await vi.advanceTimersByTimeAsync(timing.timeoutMs + 50);
    expect(await ended).toMatchObject({ outcome: 'failed' });
    const parked = { error: 'it threw', permanent: true };
    expect(fail).toHaveBeenCalledExactlyOnceWith(subject.key, expect.any(Number), parked);
    await process.close(0);
  });

  test('that failed after its timeout keeps the steps that the store had not accepted', async () => {
    let isDown = true;
    const calls: string[] = [];
    const store = storeWith({
      async completeStep(_, __, name) {
        if (isDown) throw new Error('the store restarts');
        calls.push(name);
        return true;
      },
      async renew(_, __, leaseMs) {
        calls.push(`renew ${leaseMs}`);
        return true;
      },
    });
    const lease = new Lease(store, subject.key, claim, { ...timing, renewMs: 60_000 });
    const noted = lease.completeStep('mail', null);
    await vi.advanceTimersByTimeAsync(timing.timeoutMs);
    await noted;
    isDown = false;
    await lease.lapse();
    expect(calls).toEqual(['mail', 'renew 0']);
    lease.stop();
  });

  test('that failed after its lease keeps its steps, even if the store returns much later', async () => {
    let isDown = false;
    const base = memoryStore();
    const down =
      <Args extends unknown[], Result>(verb: (...args: Args) => Promise<Result>) =>
      async (...args: Args) => {
        if (isDown) throw new Error('the store is down');
        return verb(...args);
      };
    const { claim: grant, completeStep, renew, fail, release } = base;
    const store = forward(base, {
      claim: down(grant.bind(base)),
      completeStep: down(completeStep.bind(base)),
      renew: down(renew.bind(base)),
      fail: down(fail.bind(base)),
      release: down(release.bind(base)),
    });
    const process = new Idempotency(store, timing, LOAD, () => {});
    const terms = { keepMs: 60_000, onError() {} };
    const first = process.doOnce(subject, terms, async (lease) => {
      isDown = true;
      await lease.completeStep('mail', 'sent');
      await new Promise((resolve) => setTimeout(resolve, timing.leaseMs));
      return FAILED;
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await first).toMatchObject({ outcome: 'busy' });
    isDown = false;
    await vi.advanceTimersByTimeAsync(2_000);
    const seen: unknown[] = [];
    const retry = process.doOnce(subject, terms, async ({ steps }) => {
      seen.push(steps);
      return DONE;
    });
    await vi.advanceTimersByTimeAsync(10);
    expect(await retry).toMatchObject({ outcome: 'handled' });
    expect(seen).toEqual([{ mail: 'sent' }]);
    await process.close(0);
  });

  test('that failed after its timeout lets the lease expire, and is not reported as a failure', async () => {
    const fail = vi.fn(async () => 'retry' as const);
    const renewedFor: number[] = [];
    const base = memoryStore();
    const renew: IdempotencyStore['renew'] = async (key, fence, leaseMs) => {
      renewedFor.push(leaseMs);
      return base.renew(key, fence, leaseMs);
    };
    const process = new Idempotency(forward(base, { fail, renew }), timing, LOAD, () => {});
    const work = () =>
      new Promise<Work>((resolve) => setTimeout(() => resolve(FAILED), timing.timeoutMs + 500));
    const ended = process.doOnce(subject, { keepMs: 60_000, onError() {} }, work);
    await vi.advanceTimersByTimeAsync(timing.timeoutMs + 600);
    expect(await ended).toMatchObject({ outcome: 'failed' });
    expect([fail.mock.calls.length, renewedFor.at(-1)]).toEqual([0, 0]);
    await process.close(0);
  });

  test('is reported as lost if another process has taken the delivery over before the result was recorded', async () => {
    const errors: unknown[] = [];
    let asked = 0;
    const complete = async () => {
      asked += 1;
      if (asked <= 6) throw new Error('the store restarts');
      return false;
    };
    // The lease is long and has not expired, so its end is not reported.
    const long = { ...timing, leaseMs: 600_000, renewMs: 200_000 };
    const process = new Idempotency(storeWith({ complete }), long, LOAD, (error) =>
      errors.push(error),
    );
    const ended = process.doOnce(subject, { keepMs: 60_000, onError() {} }, async () => DONE);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await ended).toMatchObject({ outcome: 'handled' });
    expect(asked).toBeGreaterThan(6);
    expect(errors).toEqual([expect.objectContaining({ code: 'outcome_unrecorded' })]);
    await process.close(0);
  });
});
