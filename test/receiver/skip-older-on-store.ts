import * as fc from 'fast-check';
import { createReceiver, type IdempotencyStore, type Receiver } from 'storefront-webhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { gate } from '../support/gate.js';
import { runs } from '../support/tier.js';

const at = (second: number) => `2026-11-20T10:00:${`${second}`.padStart(2, '0')}.000000+00:00`;
const UPDATED = 'order:updated';

/** Tests `skipOlder` on a real store. */
export function describeSkipOlder(
  name: string,
  make: () => IdempotencyStore | Promise<IdempotencyStore>,
) {
  const opened: Receiver[] = [];
  /** A process that mirrors orders. If `work` throws, the delivery fails. */
  const mirror = (store: IdempotencyStore, work: (state: string) => unknown) => {
    const receiver = createReceiver({ secret: SECRET, store, hooks: { onError() {} } });
    receiver.on('order:*', ({ payload }) => work(payload.updated_at ?? ''), { skipOlder: true });
    opened.push(receiver);
    return receiver;
  };
  const send = (receiver: Receiver, second: number, id = `whl_${second}`) =>
    deliver(receiver, paidOrder({ updated_at: at(second) }), { event: UPDATED, id });

  describe(`skipOlder on ${name}`, () => {
    // An open receiver purges the store in the background, and so also deliveries of the next test.
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((receiver) => receiver.close()));
    });

    test('skips states that are older than one that another process has finished', async () => {
      const store = await make();
      const ran: string[] = [];
      const one = mirror(store, (state) => ran.push(state));
      expect(await send(one, 2)).toMatchObject({ status: 200, outcome: 'handled' });
      await store.purge(100);
      const other = mirror(store, (state) => ran.push(state));
      expect(await send(other, 1)).toMatchObject({ status: 200, outcome: 'duplicate', ran: [] });
      // A state of the same time, and a newer one.
      expect(await send(other, 2, 'a fresh id')).toMatchObject({ outcome: 'handled' });
      expect(await send(other, 3)).toMatchObject({ outcome: 'handled' });
      expect(ran).toEqual([at(2), at(2), at(3)]);
      for (const state of ['dead', 'stalled', 'failing'] as const)
        expect(await store.list({ state })).toEqual([]);
    });

    test('runs two states of one record one after another', async () => {
      const store = await make();
      const steps: string[] = [];
      const work = async (state: string) => {
        steps.push(`${state} begins`);
        await new Promise((resolve) => setTimeout(resolve, 30));
        steps.push(`${state} ends`);
      };
      const processes = [mirror(store, work), mirror(store, work)];
      await Promise.all(processes.map((receiver, index) => send(receiver, index)));
      const whole = [0, 1].map((second) => [`${at(second)} begins`, `${at(second)} ends`]);
      // If the newer state came first, the older one has not run.
      expect([whole.flat(), whole[1]]).toContainEqual(steps);
    });

    test('does not record the state of a process that was frozen over a newer one', async () => {
      const store = await make();
      const begun = gate();
      const thawed = gate();
      const lapsing = forward(store, {
        claim: (delivery, lease) => store.claim(delivery, { ...lease, leaseMs: 1 }),
      });
      const frozen = mirror(lapsing, () => {
        begun.open();
        return thawed.opened;
      });
      const late = send(frozen, 1);
      await begun.opened;
      const ran: string[] = [];
      const other = mirror(store, (state) => ran.push(state));
      expect(await send(other, 3)).toMatchObject({ outcome: 'handled' });
      thawed.open();
      expect(await late).toMatchObject({ status: 503, outcome: 'busy' });
      expect(await send(other, 2)).toMatchObject({ outcome: 'duplicate' });
      expect(await send(other, 1)).toMatchObject({ outcome: 'duplicate' });
      expect(ran).toEqual([at(3)]);
    });

    test('reaches the newest state, in any order of arrivals and failures', async () => {
      const attempt = fc.record({
        second: fc.integer({ min: 1, max: 6 }),
        fails: fc.boolean(),
        by: fc.constantFrom('here', 'there'),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(attempt, { minLength: 2, maxLength: 12 }), async (attempts) => {
          const store = await make();
          let mirrored = '';
          let isFailing = false;
          const work = (state: string) => {
            if (isFailing) throw new Error('the mirror is down');
            mirrored = state;
          };
          const processes = { here: mirror(store, work), there: mirror(store, work) };
          const unfinished = new Set<number>();
          let newest = 0;
          const come = async (second: number, by: 'here' | 'there') => {
            const { status } = await send(processes[by], second);
            if (status === 200) unfinished.delete(second);
            else unfinished.add(second);
            newest = Math.max(newest, second);
          };
          for (const { second, fails, by } of attempts) {
            isFailing = fails;
            await come(second, by);
          }
          // Retry each state until it is answered 200, as a sender does.
          isFailing = false;
          for (const second of [...unfinished]) await come(second, 'here');
          expect(unfinished.size).toBe(0);
          expect(mirrored).toBe(at(newest));
          await Promise.all(opened.splice(0).map((receiver) => receiver.close()));
        }),
        { numRuns: runs(15) },
      );
    });
  });
}
