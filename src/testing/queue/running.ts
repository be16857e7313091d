import assert from 'node:assert/strict';
import { forward } from '../../stores/forward.js';
import { eventually } from '../suite.js';
import { enqueue, newDelivery, newReceiver, redrive, StandIn, sendOrder } from './deliveries.js';
import type { Defining } from './test-queue.js';

/** How often a delivery is run, and when it is run again. */
export function defineRunning({ test, withQueue, jobsOf, suite }: Defining): void {
  test(
    'makes one job of a delivery, however often it is sent',
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
    'makes one job of twenty copies that come at once',
    () =>
      withQueue(async ({ queue, count }) => {
        const delivery = newDelivery();
        const jobs = await Promise.all(Array.from({ length: 20 }, () => enqueue(queue, delivery)));
        assert.equal(new Set(jobs.map(({ id }) => id)).size, 1);
        assert.equal(await count(), 1);
      }),
    ['oneJob'],
  );

  test('has the handlers of a delivery run once', () =>
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
      await eventually('so is its copy', async () => (await countDone()) === jobsOf(6));
      const { id, scope } = delivery;
      assert.deepEqual(runs, [{ id, scope, source: 'queue' }]);
    }));

  test('has many deliveries processed, each once', () =>
    withQueue(async ({ queue, store, work, countDone }) => {
      const handled: string[] = [];
      await work(newReceiver({ store }).on('order:paid', ({ key }) => void handled.push(key)));
      const deliveries = Array.from({ length: 30 }, () => newDelivery());
      await Promise.all(deliveries.map((delivery) => enqueue(queue, delivery)));
      await eventually('30 jobs are done', async () => (await countDone()) === 30);
      assert.deepEqual(handled.sort(), deliveries.map(({ key }) => key).sort());
    }));

  test('has a delivery that failed tried again', () =>
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
    'has what fails for the last time parked, and processed again once it is redriven',
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
        const dead = await eventually('it is dead', async () => (await listDead())[0]);
        assert.equal(runs, 2);
        assert.equal(dead.key, delivery.key);
        assert.match(dead.error ?? '', /2\. time/);

        // At once: the queue may not know by now that the attempt has ended.
        const { outcome } = await newReceiver({ queue, store, scope }).redrive(dead);
        assert.equal(outcome, 'queued');
        // With as many attempts as at first, of which it needs two.
        await eventually('it was tried twice more', () => outcomes.length === 4);
        assert.deepEqual(outcomes, ['failed', 'parked', 'failed', 'handled']);
        assert.deepEqual(await listDead(), []);
      }, 2),
    ['redrive'],
  );

  test(
    'has a delivery that is redriven while its last attempt ends processed again',
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
        await eventually('it is being tried', () => receiver.given.length === 1);
        const redriven = redrive(queue, delivery);
        // Asked after it: most often by the answer, the redrive has seen that the job is being run.
        await count();
        end();
        await redriven;
        await eventually('it is tried again', () => receiver.given.length === 2);
        await eventually('the job is done', async () => (await countDone()) === jobsOf(2));
      }, 1),
    ['redrive'],
  );

  test('keeps what is being processed elsewhere, until it is not', () =>
    withQueue(async ({ queue, store, work }) => {
      const delivery = newDelivery();
      const terms = { owner: 'elsewhere', leaseMs: 10_000, keepMs: 60_000, maxCrashes: 5 };
      const claim = await store.claim(delivery, terms);
      assert.equal(claim.state, 'acquired');
      const outcomes: string[] = [];
      const onOutcome = ({ outcome }: { outcome: string }) => void outcomes.push(outcome);
      await work(newReceiver({ store, hooks: { onOutcome } }).on('order:paid', () => {}));
      await enqueue(queue, delivery);
      await eventually('it was tried', () => outcomes.length > 0);
      assert.equal(outcomes[0], 'busy');
      if (claim.state === 'acquired') await store.release(delivery.key, claim.fence);
      await eventually('it is handled', () => outcomes.includes('handled'));
    }, 1));

  test('keeps what comes while the store is down', () =>
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
      await eventually('it was tried', () => outcomes.length > 0);
      assert.equal(outcomes[0], 'unavailable');
      isDown = false;
      await eventually('it is handled', () => outcomes.includes('handled'));
    }, 1));

  test(
    'has kept a delivery by the time that it says so',
    () =>
      withQueue(async ({ queue, work, crash }) => {
        const delivery = newDelivery();
        await enqueue(queue, delivery);
        assert.ok(crash, 'Give `crash`, or say in `lacks.crash` why there is none.');
        await crash();
        const receiver = new StandIn();
        await work(receiver);
        const first = await eventually('it is tried', () => receiver.given[0]);
        assert.equal(first.delivery.key, delivery.key);
      }),
    ['crash'],
  );

  test('has its sender come back while it is down', async () => {
    assert.ok(suite.openDown, 'Give `openDown`, or say in `lacks.down` why there is none.');
    const { queue, close } = await suite.openDown();
    try {
      const startedAt = performance.now();
      const { status, outcome } = await sendOrder(newReceiver({ queue }));
      assert.deepEqual({ status, outcome }, { status: 503, outcome: 'unavailable' });
      assert.ok(performance.now() - startedAt < 12_000, 'It took too long to say so.');
    } finally {
      await close();
    }
  }, ['down']);
}
