import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { describe, expect, test } from 'vitest';
import { memoryBehind } from '../../../src/stores/memory.js';
import { deliver, SECRET } from '../../support/deliver.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function heapUsed(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

const terms = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 3 };
const delivery = (name: string) => ({
  key: Buffer.from(name).toString('hex').padEnd(64, '0'),
  ...{ scope: '', id: name, event: 'order:paid', receivedAt: 0, body: new Uint8Array(10) },
});

/** The store as a receiver uses it, without the checks of its contract. */
function open(options: Parameters<typeof memoryStore>[0] = {}) {
  const store = memoryBehind(memoryStore(options));
  if (store === undefined) throw new Error('This is no memory store.');
  const claim = async (name: string) => {
    const claimed = await store.claim(delivery(name), terms);
    if (claimed.state !== 'acquired') throw new Error(`The claim is ${claimed.state}.`);
    return claimed.fence;
  };
  const fail = async (name: string, error: string, permanent = false) =>
    store.fail(delivery(name).key, await claim(name), { permanent, error });
  const kept = async () => [
    ...(await store.list({ state: 'failing', scope: undefined, after: '', limit: 100 })),
    ...(await store.list({ state: 'dead', scope: undefined, after: '', limit: 100 })),
  ];
  return { store, claim, fail, kept };
}

describe('the error of a failed delivery in the memory store', () => {
  test('is cut, and kept without the text that it was cut from', async () => {
    const { fail, kept } = open();
    await fail('before', 'warm');
    const before = heapUsed();
    for (let at = 0; at < 50; at++)
      await fail(`one ${at}`, Buffer.from(`${at} ${'x'.repeat(500_000)}`).toString());
    // The texts are 25 MB.
    expect(heapUsed() - before).toBeLessThan(6_000_000);
    expect((await kept()).map(({ error }) => error?.length)).toContain(2_000);
  });

  test('counts in maxBytes', async () => {
    const { fail, kept } = open({ maxBytes: 20_000 });
    for (let at = 0; at < 20; at++) await fail(`one ${at}`, 'x'.repeat(2_000));
    expect((await kept()).length).toBeLessThanOrEqual(4);
  });

  test('makes room again when the delivery is redriven, fails otherwise, or is done', async () => {
    const { store, claim, fail, kept } = open({ maxBytes: 12_000 });
    for (let again = 0; again < 50; again++) {
      await fail('one', 'x'.repeat(2_000), true);
      await store.redrive(delivery('one').key);
      await fail('one', 'y'.repeat(1_000));
    }
    expect((await kept()).map(({ error }) => error?.length)).toEqual([1_000]);
    await store.complete(delivery('one').key, await claim('one'), 60_000);
    for (let at = 0; at < 2; at++) await fail(`other ${at}`, 'x'.repeat(2_000));
    expect(await kept()).toHaveLength(2);
    expect(await store.isDone?.(delivery('one').key)).toBe(true);
  });

  test('is left out if running deliveries leave no room for it', async () => {
    const { claim, fail, kept } = open({ maxBytes: 3_000 });
    await claim('running');
    await claim('also running');
    expect(await fail('one', 'x'.repeat(2_000))).toBe('retry');
    expect((await kept()).map(({ error }) => error)).toEqual([undefined]);
  });

  test('that is left out takes no room, nor does the one before it', async () => {
    const { claim, fail, kept } = open({ maxBytes: 3_000 });
    await claim('running');
    await claim('also running');
    for (let again = 0; again < 10; again++) {
      await fail('one', 'x'.repeat(2_000));
      await fail('one', 'y'.repeat(100));
    }
    expect((await kept()).map(({ error }) => error?.length)).toEqual([100]);
  });

  test('is bounded for errors of a handler that contain the request', async () => {
    const store = memoryStore();
    const hooks = { onError() {}, onRejected() {} };
    const receiver = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', () => {
      throw new Error(Buffer.from('é\u0007'.repeat(100_000)).toString());
    });
    const payload = { id: 'ord_1', status: 100, email: 'a@example.com' };
    await deliver(receiver, payload);
    const [one] = await store.list({ state: 'failing', limit: 1 });
    expect(one?.error).toHaveLength(2_000);
  });
});
