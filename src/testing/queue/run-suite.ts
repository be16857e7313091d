import assert from 'node:assert/strict';
import { forward } from '../../stores/contract.js';
import { eventually } from '../suite.js';
import { now } from '../timers.js';
import { enqueue, newDelivery, newReceiver, redrive, StandIn, sendOrder } from './deliveries.js';
import type { Defining } from './tested-queue.js';

/** Defines the tests of how often a queue runs a delivery, and when it runs it again. */
export function defineRunning({ test, withQueue, jobsOf, suite }: Defining): void {
  test(
    'adds one job for a delivery that is sent twice',
    () =>
      withQueue(async ({ queue, count }) => {
        const receiver = newReceiver({ queue });
        for (let copy = 0; copy < 2; copy++) {
          const { status, outcome } = await sendOrder(receiver);
          assert.deepEqual({ status, outcome }, { status: 200, outcome: 'queued' });
        }
        assert.equal(await count(), 1);
      }),
    ['oneJob'],
  );

  test(
    'adds one job for twenty simultaneous copies of a delivery',
    () =>
      withQueue(async ({ queue, count }) => {
        const delivery = newDelivery();
        const jobs = await Promise.all(Array.from({ length: 20 }, () => enqueue(queue, delivery)));
        assert.equal(new Set(jobs.map(({ id }) => id)).size, 1);
        assert.equal(await count(), 1);
      }),
    ['oneJob'],
  );

  test('runs the handlers of a queued delivery once', () =>
    withQueue(async ({ queue, store, work, countDone }) => {
      const runs: object[] = [];
      const receiver = newReceiver({ store });
      await work(
        receiver.on('order:paid', ({ id, scope, source }) => void runs.push({ id, scope, source })),
      );
      const delivery = newDelivery();
      await Promise.all(Array.from({ length: 5 }, () => enqueue(queue, delivery)));
      await eventually('the job is done', async () => (await countDone()) === jobsOf(5));
      await enqueue(queue, delivery);
      await eventually('the copy is done', async () => (await countDone()) === jobsOf(6));
      const { id, scope } = delivery;
      assert.deepEqual(runs, [{ id, scope, source: 'queue' }]);
    }));

  test('processes many deliveries, each once', () =>
    withQueue(async ({ queue, store, work, countDone }) => {
      const handled: string[] = [];
      await work(newReceiver({ store }).on('order:paid', ({ key }) => void handled.push(key)));
      const deliveries = Array.from({ length: 30 }, () => newDelivery());
      await Promise.all(deliveries.map((delivery) => enqueue(queue, delivery)));
      await eventually('30 jobs are done', async () => (await countDone()) === 30);
      assert.deepEqual(handled.sort(), deliveries.map(({ key }) => key).sort());
    }));

  test('retries a delivery that failed', () =>
    withQueue(async ({ queue, store, work, countDone }) => {
      let runs = 0;
      const receiver = newReceiver({ store }).on('order:paid', () => {
        if (++runs === 1) throw new Error('for once');
      });
      await work(receiver);
      await enqueue(queue, newDelivery());
      await eventually('the job is done', async () => (await countDone()) === 1);
      assert.equal(runs, 2);
    }));

  test(
    'parks a delivery after its last attempt, and processes it again after a redrive',
    () =>
      withQueue(async ({ queue, store, work }) => {
        let runs = 0;
        const outcomes: string[] = [];
        const onOutcome = ({ outcome }: { outcome: string }) => void outcomes.push(outcome);
        const receiver = newReceiver({ store, hooks: { onOutcome } });
        await work(
          receiver.on('order:paid', () => {
            if (++runs <= 3) throw new Error(`for the ${runs}. time`);
          }),
        );
        const delivery = newDelivery();
        const { scope } = delivery;
        const listDead = () => store.list({ state: 'dead', scope, limit: 10 });
        await enqueue(queue, delivery);
        const dead = await eventually('the delivery is dead', async () => (await listDead())[0]);
        assert.equal(runs, 2);
        assert.equal(dead.key, delivery.key);
        assert.match(dead.error ?? '', /2\. time/);

        // Redrive at once: the queue may not know yet that the attempt has ended.
        const { outcome } = await newReceiver({ queue, store, scope }).redrive(dead);
        assert.equal(outcome, 'queued');
        // The redriven delivery has as many attempts as at first, and needs two of them.
        await eventually('the delivery was tried twice more', () => outcomes.length === 4);
        assert.deepEqual(outcomes, ['failed', 'parked', 'failed', 'handled']);
        assert.deepEqual(await listDead(), []);
      }, 2),
    ['redrive'],
  );

  test(
    'processes a delivery again, with its new signature, if it is redriven while its last attempt ends',
    () =>
      withQueue(async ({ queue, work, count, countDone }) => {
        let end = () => {};
        const ended = new Promise<void>((resolve) => {
          end = resolve;
        });
        const receiver = new StandIn(async () => {
          await ended;
          return 'parked';
        });
        await work(receiver);
        const delivery = newDelivery();
        await enqueue(queue, delivery);
        await eventually('the delivery is being tried', () => receiver.given.length === 1);
        const redriven = redrive(queue, { ...delivery, proof: 'signed anew' });
        // Counting takes a request of its own. When it is answered, the redrive has usually seen that the job is
        // running.
        await count();
        end();
        await redriven;
        await eventually('the delivery is tried again', () => receiver.given.length === 2);
        assert.equal(receiver.given[1]?.delivery.proof, 'signed anew');
        await eventually('the job is done', async () => (await countDone()) === jobsOf(2));
      }, 1),
    ['redrive'],
  );

  test('keeps a delivery that is being processed elsewhere until it is released', () =>
    withQueue(async ({ queue, store, work }) => {
      const delivery = newDelivery();
      const terms = { owner: 'elsewhere', leaseMs: 10_000, keepMs: 60_000, maxCrashes: 5 };
      const claim = await store.claim(delivery, terms);
      assert.equal(claim.state, 'acquired');
      const outcomes: string[] = [];
      const onOutcome = ({ outcome }: { outcome: string }) => void outcomes.push(outcome);
      await work(newReceiver({ store, hooks: { onOutcome } }).on('order:paid', () => {}));
      await enqueue(queue, delivery);
      await eventually('the delivery was tried', () => outcomes.length > 0);
      assert.equal(outcomes[0], 'busy');
      if (claim.state === 'acquired') await store.release(delivery.key, claim.fence);
      await eventually('the delivery is handled', () => outcomes.includes('handled'));
    }, 1));

  test('keeps deliveries while the store is down', () =>
    withQueue(async ({ queue, store, work }) => {
      let isDown = true;
      const shaky = forward(store, {
        claim: (...args) =>
          isDown ? Promise.reject(new Error('it is down')) : store.claim(...args),
      });
      const outcomes: string[] = [];
      const onOutcome = ({ outcome }: { outcome: string }) => void outcomes.push(outcome);
      await work(newReceiver({ store: shaky, hooks: { onOutcome } }).on('order:paid', () => {}));
      await enqueue(queue, newDelivery());
      await eventually('the delivery was tried', () => outcomes.length > 0);
      assert.equal(outcomes[0], 'unavailable');
      isDown = false;
      await eventually('the delivery is handled', () => outcomes.includes('handled'));
    }, 1));

  test(
    'has stored a delivery when enqueue resolves',
    () =>
      withQueue(async ({ queue, work, crash }) => {
        const delivery = newDelivery();
        await enqueue(queue, delivery);
        assert.ok(crash, 'Pass `crash`, or give the reason in `lacks.crash`.');
        await crash();
        const receiver = new StandIn();
        await work(receiver);
        const first = await eventually('the delivery is tried', () => receiver.given[0]);
        assert.equal(first.delivery.key, delivery.key);
      }),
    ['crash'],
  );

  test('makes the receiver answer 503 while the queue is down', async () => {
    assert.ok(suite.openDown, 'Pass `openDown`, or give the reason in `lacks.down`.');
    const { queue, close } = await suite.openDown();
    try {
      const startedAt = now();
      const { status, outcome } = await sendOrder(newReceiver({ queue }));
      assert.deepEqual({ status, outcome }, { status: 503, outcome: 'unavailable' });
      assert.ok(now() - startedAt < 12_000, 'The answer took too long.');
    } finally {
      await close();
    }
  }, ['down']);
}
