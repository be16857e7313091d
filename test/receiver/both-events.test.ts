import { join } from 'node:path';
import * as fc from 'fast-check';
import Database from 'libsql';
import {
  createReceiver,
  type IdempotencyStore,
  isPaid,
  memoryStore,
  type Outcome,
  type Receiver,
} from 'storefront-webhooks';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { newFolder } from '../stores/sqlite/remote.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { runs } from '../support/tier.js';

/** The webhooks of an order. Each is sent twice. */
const WEBHOOKS = {
  unpaid: { event: 'order:updated', status: 54 },
  updated: { event: 'order:updated', status: 100 },
  paid: { event: 'order:paid', status: 100 },
} as const;
type Webhook = keyof typeof WEBHOOKS;
const ALL: readonly Webhook[] = ['unpaid', 'unpaid', 'updated', 'updated', 'paid', 'paid'];

/** The number of attempts after which a webhook would never succeed. */
const MOST = 30;

/** How a run of the handler ends that does not deliver. The runs after these deliver. */
type Fault = 'fails' | 'dies';
const FAULTS: readonly (readonly Fault[])[] = [
  [],
  ['fails'],
  ['dies'],
  ['fails', 'dies'],
  ['dies', 'fails'],
];

/** Returns every order in which the webhooks can arrive. */
function permutations(left: readonly Webhook[]): Webhook[][] {
  if (left.length === 0) return [[]];
  return [...new Set(left)].flatMap((first) => {
    const at = left.indexOf(first);
    return permutations(left.toSpliced(at, 1)).map((rest) => [first, ...rest]);
  });
}

/** A webhook, its outcome, and the deliveries of the order so far. */
type Seen = readonly [Webhook, Outcome | 'dies', number];

/** Returns the expected outcomes. A webhook without a success is retried later. */
function expected(scenario: readonly Webhook[], faults: readonly Fault[]): Seen[] {
  const seen: Seen[] = [];
  const left = [...faults];
  const queue = [...scenario];
  let deliveries = 0;
  for (let webhook = queue.shift(); webhook; webhook = queue.shift()) {
    const fault = webhook === 'unpaid' ? undefined : left.shift();
    if (webhook === 'unpaid') seen.push([webhook, 'ignored', deliveries]);
    else if (fault) {
      seen.push([webhook, fault === 'fails' ? 'failed' : 'dies', deliveries]);
      queue.push(webhook);
    } else {
      seen.push([webhook, deliveries === 0 ? 'handled' : 'duplicate', 1]);
      deliveries = 1;
    }
  }
  return seen;
}

function shop(store: IdempotencyStore, ship: () => Promise<void>): Receiver {
  return createReceiver({ secret: SECRET, store, hooks: { onError() {} } }).on(
    ['order:paid', 'order:updated'],
    ship,
    { name: 'deliver', when: isPaid, oncePer: (order) => order.id },
  );
}

/** A new order, and the number of its deliveries. */
class OneOrder {
  static #count = 0;
  readonly #id = `ord_${OneOrder.#count++}`;
  deliveries = 0;

  send(receiver: Receiver, webhook: Webhook) {
    const { event, status } = WEBHOOKS[webhook];
    const payload = paidOrder({ id: this.#id, status });
    return deliver(receiver, payload, { event, id: `${this.#id} ${webhook}` });
  }
}

/** Ends each handler of a dead process: its receiver has timers while it runs. */
const endDead: (() => void)[] = [];
afterEach(() => {
  for (const end of endDead.splice(0)) end();
});

/** Processes on one store, one at a time: after a handler dies, its process never answers, and a new one starts. */
class Processes {
  readonly #store: IdempotencyStore;
  readonly #order: OneOrder;
  readonly #faults: Fault[];
  #live: { readonly receiver: Receiver; readonly died: Promise<undefined> };

  constructor(store: IdempotencyStore, order: OneOrder, faults: readonly Fault[]) {
    this.#store = store;
    this.#order = order;
    this.#faults = [...faults];
    this.#live = this.#start();
  }

  /** Sends a webhook once. Returns its outcome, or `dies` if the process dies. */
  async send(webhook: Webhook): Promise<Outcome | 'dies'> {
    const { receiver, died } = this.#live;
    const reply = await Promise.race([this.#order.send(receiver, webhook), died]);
    if (reply) return reply.outcome;
    this.#live = this.#start();
    return 'dies';
  }

  #start() {
    let die = () => {};
    const died = new Promise<undefined>((resolve) => {
      die = () => resolve(undefined);
    });
    // A new process can take over the lease of a dead one at once.
    const store = forward(this.#store, {
      claim: (subject, terms) => this.#store.claim(subject, { ...terms, leaseMs: 1 }),
      renew: (key, fence) => this.#store.renew(key, fence, 1),
    });
    const receiver = shop(store, async () => {
      const fault = this.#faults.shift();
      if (fault === 'fails') throw new Error('the mail server is down');
      if (fault === 'dies') {
        die();
        await new Promise<void>((resolve) => endDead.push(resolve));
        throw new Error('the process is dead');
      }
      this.#order.deliveries += 1;
    });
    return { receiver, died };
  }
}

function describeOrders(name: string, open: () => IdempotencyStore): void {
  describe(`an order on ${name} is delivered once`, () => {
    test.each(FAULTS.map((faults) => ({ faults })))(
      'for any sequence of its webhooks, if the handler has these faults: $faults',
      async ({ faults }) => {
        const scenarios = permutations(ALL);
        expect(scenarios).toHaveLength(90);
        const play = async (scenario: readonly Webhook[]) => {
          const order = new OneOrder();
          const processes = new Processes(open(), order, faults);
          const seen: Seen[] = [];
          const queue = [...scenario];
          for (let webhook = queue.shift(); webhook; webhook = queue.shift()) {
            const outcome = await processes.send(webhook);
            seen.push([webhook, outcome, order.deliveries]);
            const isRetried = outcome === 'failed' || outcome === 'dies';
            if (isRetried && seen.length < MOST) queue.push(webhook);
          }
          expect(seen).toEqual(expected(scenario, faults));
        };
        await Promise.all(scenarios.map(play));
      },
    );

    test('if two processes get all webhooks at the same time, for any interleaving of their store calls', async () => {
      const property = fc.asyncProperty(fc.scheduler(), fc.nat(2), async (scheduler, failures) => {
        const order = new OneOrder();
        const turn = () => scheduler.schedule(Promise.resolve());
        const store = forward(open(), {}, async (call) => {
          await turn();
          return call();
        });
        let left = failures;
        const receivers = [1, 2].map(() =>
          shop(store, async () => {
            await turn();
            if (left-- > 0) throw new Error('the mail server is down');
            order.deliveries += 1;
          }),
        );
        const sendUntilGood = async (webhook: Webhook, at: number): Promise<string> => {
          const receiver = receivers[at % 2];
          if (!receiver) throw new Error('there are two');
          for (let attempt = 0; attempt < MOST; attempt++) {
            const { status, outcome } = await order.send(receiver, webhook);
            if (status === 200) return outcome;
          }
          throw new Error('it was never answered 200');
        };
        const outcomes = await scheduler.waitFor(Promise.all(ALL.map(sendUntilGood)));
        expect(order.deliveries).toBe(1);
        expect(outcomes.filter((outcome) => outcome === 'ignored')).toHaveLength(2);
      });
      await fc.assert(property, { numRuns: runs(60, 6) });
    });
  });
}

describeOrders('memory', () => memoryStore());

const database = new Database(join(newFolder(), 'webhooks.db'));
afterAll(() => void database.close());
const store = sqliteStore(database);
describeOrders('SQLite', () => store);
