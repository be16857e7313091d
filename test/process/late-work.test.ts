import { createReceiver, memoryStore } from 'storefront-webhooks';
import { expect, test } from 'vitest';
import { LateWork } from '../../src/runtime/late-work.js';
import { skipWaits } from '../support/clock.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

/** A promise that is resolved from outside, and counts what waits for it. */
class Counted extends Promise<void> {
  static override get [Symbol.species]() {
    return Promise;
  }
  waits = 0;
  end = () => {};

  static make(): Counted {
    let end = () => {};
    const work = new Counted((resolve) => {
      end = resolve;
    });
    work.end = end;
    return work;
  }

  // biome-ignore lint/suspicious/noThenProperty: it counts the calls.
  override then<One = void, Other = never>(
    onDone?: ((value: void) => One | PromiseLike<One>) | null,
    onFailed?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<One | Other> {
    this.waits += 1;
    return super.then(onDone, onFailed);
  }
}

async function isOver(waiting: Promise<unknown> | undefined): Promise<boolean> {
  const soon = new Promise((resolve) => setTimeout(resolve, 5, false));
  return (await Promise.race([waiting?.then(() => true), soon])) === true;
}

test('nothing is waited for if no work is late', async () => {
  const late = new LateWork();
  expect(late.ended).toBeUndefined();
  const work = Counted.make();
  late.add(work);
  work.end();
  await late.ended;
  expect(late.ended).toBeUndefined();
  const unasked = Counted.make();
  late.add(unasked);
  unasked.end();
  await unasked;
  expect(late.ended).toBeUndefined();
});

test('a wait ends with the work that was running when it began, although more work comes', async () => {
  const late = new LateWork();
  const [first, second, third] = [Counted.make(), Counted.make(), Counted.make()];
  late.add(first);
  late.add(second);
  const early = late.ended;
  late.add(third);
  const all = late.ended;
  first.end();
  expect(await isOver(early)).toBe(false);
  second.end();
  expect(await isOver(early)).toBe(true);
  expect(await isOver(all)).toBe(false);
  third.end();
  expect(await isOver(all)).toBe(true);
});

test('a thousand responses share one wait for each piece of work', async () => {
  const late = new LateWork();
  const works = Array.from({ length: 1_000 }, () => Counted.make());
  const waits = works.map((work) => {
    late.add(work);
    return late.ended;
  });
  await new Promise((resolve) => setTimeout(resolve));
  expect(Math.max(...works.map((work) => work.waits))).toBeLessThan(4);
  for (const work of works) work.end();
  await Promise.all(waits);
});

test('the response of a delivery waits for its own hook, not for those of later deliveries', async () => {
  const hooks: Counted[] = [];
  const receiver = createReceiver({
    secret: SECRET,
    store: memoryStore(),
    hooks: {
      onOutcome() {
        const hook = Counted.make();
        hooks.push(hook);
        return hook;
      },
    },
  }).on('order:paid', () => {});
  const { recorded } = await deliver(receiver, paidOrder({ id: 'ord_1' }));
  expect(await isOver(Promise.resolve(recorded))).toBe(false);
  await deliver(receiver, paidOrder({ id: 'ord_2' }), { id: 'whl_2' });
  hooks[0]?.end();
  expect(await isOver(Promise.resolve(recorded))).toBe(true);
});

test('a response waits at most 10 s for a hook that never settles', async () => {
  skipWaits();
  const hooks = { onOutcome: () => new Promise(() => {}) };
  const receiver = createReceiver({ secret: SECRET, store: memoryStore(), hooks });
  receiver.on('order:paid', () => {});
  const startedAt = performance.now();
  const { recorded } = await deliver(receiver, paidOrder());
  await recorded;
  expect(performance.now() - startedAt).toBeLessThanOrEqual(10_000);
});
