import { createHash } from 'node:crypto';
import { sign } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openShop, type Shop } from '../../../queues/cloudflare/broker.js';
import type { State } from '../../../queues/cloudflare/shop.js';
import { withRuntimes } from '../../../runtimes/installed.js';
import { paidOrder, SECRET } from '../../../support/deliver.js';

const WAIT = { timeout: 15_000, interval: 50 };
const order = (id: string, email = 'buyer@example.com') => JSON.stringify(paidOrder({ id, email }));
/** An order whose body has a number of bytes that differ between orders. */
function largeOrder(id: string, bytes: number): string {
  const empty = order(id, `${id}@`).length;
  const random = createHash('sha512').update(id).digest('hex');
  return order(id, `${id}@${random.repeat(Math.ceil(bytes / 128)).slice(0, bytes - empty)}`);
}
const hashOf = (body: string) => createHash('sha256').update(body).digest('hex');
const acked = ({ settled }: State) => settled.filter(({ how }) => how === 'ack').length;
const ordersOf = ({ runs }: State) => runs.map((run) => run.order).sort();

withRuntimes('Cloudflare Queues, on the broker of workerd', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.stop());
  beforeEach(async () => {
    await shop.faults({});
    await shop.post('/forget');
  });

  /** Waits until a number of messages have been acknowledged. */
  async function settledOf(count: number): Promise<State> {
    return vi.waitFor(
      async () => {
        const state = await shop.state();
        expect(acked(state)).toBe(count);
        return state;
      },
      { timeout: 30_000, interval: 50 },
    );
  }

  const offloadedIn = (path: string) => shop.get<{ name: string; size: number }[]>(path);
  const namesOf = async (path: string) => (await offloadedIn(path)).map(({ name }) => name);
  const largest = async (path: string) =>
    (await offloadedIn(path)).toSorted((one, other) => other.size - one.size)[0];

  test('a delivery that is answered 200 is processed once, and its duplicates are not', async () => {
    expect(await shop.deliver('/r2', order('one'), 'a')).toBe('200 queued');
    expect(await shop.deliver('/r2', order('one'), 'a')).toBe('200 queued');
    expect(ordersOf(await settledOf(2))).toEqual(['one']);
  });

  test('a failing delivery is retried, parked through the dead-letter queue, and redriven', async () => {
    await shop.faults({ bad: { bad: 4 } });
    expect(await shop.deliver('/r2', order('bad'), 'b')).toBe('200 queued');
    const { settled } = await settledOf(1);
    expect(settled.map(({ queue, how, attempts }) => `${queue} ${how} ${attempts}`)).toEqual([
      'webhooks retry 1',
      'webhooks retry 2',
      'webhooks retry 3',
      'webhooks-dead ack 1',
    ]);
    expect(await shop.get('/dead')).toEqual([
      { id: 'b', error: expect.stringContaining('cannot be delivered') },
    ]);

    await shop.faults({});
    expect(await shop.post('/redrive')).toMatchObject([{ outcome: 'queued' }]);
    expect(ordersOf(await settledOf(2))).toEqual(['bad']);
    expect(await shop.get('/dead')).toEqual([]);
  });

  test('no delivery is lost while the store is down: it waits, in the end in the dead-letter queue', async () => {
    await shop.faults({ on: ['the store is down'] });
    expect(await shop.deliver('/r2', order('waiting'), 'c')).toBe('200 queued');
    await vi.waitFor(async () => {
      const { settled } = await shop.state();
      expect(settled.filter(({ queue }) => queue === 'webhooks-dead')).not.toEqual([]);
    }, WAIT);
    expect(acked(await shop.state())).toBe(0);
    await shop.faults({});
    expect(ordersOf(await settledOf(1))).toEqual(['waiting']);
  });

  test('a bad delivery does not affect the others of its batch', async () => {
    await shop.faults({ bad: { n7: 4 } });
    const ids = Array.from({ length: 40 }, (_, index) => `n${index}`);
    const answers = await Promise.all(ids.map((id) => shop.deliver('/r2', order(id), id)));
    expect(new Set(answers)).toEqual(new Set(['200 queued']));
    const state = await settledOf(40);
    expect(ordersOf(state)).toEqual(ids.filter((id) => id !== 'n7').sort());
    expect(state.settled.filter(({ how }) => how === 'retry')).toHaveLength(3);
    await shop.faults({});
    await shop.post('/redrive');
    await settledOf(41);
  });

  test.each([
    ['R2', '/r2', 'webhook-body/'],
    ['D1', '/d1', ''],
  ])(
    'a large body passes through %s byte for byte, and is deleted when it is done',
    async (_, path, prefix) => {
      await shop.faults({ bad: { [`large${path}`]: 2 } });
      const body = largeOrder(`large${path}`, 1024 * 1024 - 100);
      expect(await shop.deliver(path, body, `d${path}`)).toBe('200 queued');
      const { runs, settled } = await settledOf(1);
      expect(settled).toHaveLength(3);
      expect(runs).toEqual([{ order: `large${path}`, hash: hashOf(body) }]);
      const cleared = [
        { name: expect.stringMatching(`^${prefix}[0-9a-f]{64}-[0-9a-f]{64}$`), size: 0 },
      ];
      await vi.waitFor(async () => expect(await shop.get(path)).toMatchObject(cleared), WAIT);
    },
  );

  test('a large dead delivery is redriven from the store, with a new object', async () => {
    const body = largeOrder('large and dead', 200_000);
    await shop.faults({ bad: { 'large and dead': 4 } });
    expect(await shop.deliver('/r2', body, 'e')).toBe('200 queued');
    await settledOf(1);
    await shop.faults({});
    await shop.post('/redrive');
    expect((await settledOf(2)).runs).toEqual([{ order: 'large and dead', hash: hashOf(body) }]);
    expect(await namesOf('/r2')).toContainEqual(
      expect.stringMatching(/[0-9a-f]{64}-[0-9a-f-]{36}$/),
    );
  });

  test('a second message about a completed large delivery is acknowledged', async () => {
    const body = largeOrder('twice', 200_000);
    await shop.deliver('/r2', body, 'f');
    await settledOf(1);
    expect(await shop.deliver('/r2', body, 'f')).toBe('200 queued');
    await settledOf(2);
    await vi.waitFor(async () => expect((await largest('/r2'))?.size).toBe(0), WAIT);
    const [name = ''] = await namesOf('/r2');
    const offloaded = name.replace('webhook-body/', '');
    const job = { v: 1, key: offloaded.slice(0, 64), scope: '', id: 'f', event: 'order:paid' };
    await shop.post('/message', { ...job, receivedAt: Date.now(), offloaded });
    const { runs, settled } = await settledOf(3);
    expect(runs).toHaveLength(1);
    expect(settled.every(({ how }) => how === 'ack')).toBe(true);
  });

  test('a large delivery that is retried with other bytes before the worker has it is processed once', async () => {
    await shop.faults({ on: ['the receiver cannot be made'] });
    await shop.forgetReceivers();
    const body = largeOrder('encoded differently', 200_000);
    expect(await shop.deliver('/r2', body, 'r')).toBe('200 queued');
    expect(await shop.deliver('/r2', `${body} `, 'r')).toBe('200 queued');
    await shop.faults({});
    expect(ordersOf(await settledOf(2))).toEqual(['encoded differently']);
    expect(shop.output()).not.toContain('delivery_unproven');
    expect(await shop.get('/dead')).toEqual([]);
  });

  test('a missing body is logged, and the message waits for it', async () => {
    const offloaded = 'ab'.repeat(32);
    const proof = sign(JSON.stringify(paidOrder({ id: 'missing' })), SECRET);
    const job = { v: 1, key: offloaded, scope: '', id: 'g', event: 'order:paid', proof };
    await shop.post('/message', { ...job, receivedAt: Date.now(), offloaded });
    await vi.waitFor(() => expect(shop.output()).toMatch(/Its body "(ab){32}" is missing/), WAIT);
    await shop.post(`/body?name=webhook-body/${offloaded}`, paidOrder({ id: 'missing' }));
    expect(ordersOf(await settledOf(1))).toEqual(['missing']);
  });

  test('a body that cannot be deleted is logged, and its delivery is done', async () => {
    await shop.faults({ on: ['the body is not cleared'] });
    await shop.deliver('/r2', largeOrder('kept', 200_000), 'h');
    expect(ordersOf(await settledOf(1))).toEqual(['kept']);
    await vi.waitFor(
      () => expect(shop.output()).toMatch(/could not be deleted: .*the bucket is down/),
      WAIT,
    );
    expect(await largest('/r2')).toMatchObject({ size: 200_000 });
  });

  test('in D1, bodies that are 30 days old are deleted when a new one arrives', async () => {
    await shop.deliver('/d1', largeOrder('old', 200_000), 'i');
    await settledOf(1);
    const before = await namesOf('/d1');
    await shop.post('/age');
    await shop.deliver('/d1', largeOrder('new', 200_000), 'j');
    await settledOf(2);
    const after = await namesOf('/d1');
    expect(after).toHaveLength(1);
    expect(before).not.toContain(after[0]);
  });

  test('the largest fitting delivery is its own message, and a larger one is rejected without `large`', async () => {
    expect(await shop.deliver('/none', largeOrder('fits', 94_000), 'k')).toBe('200 queued');
    const { runs } = await settledOf(1);
    expect(runs).toEqual([{ order: 'fits', hash: hashOf(largeOrder('fits', 94_000)) }]);
    expect(await shop.deliver('/none', largeOrder('larger', 95_200), 'l')).toBe('503 unavailable');
    expect(await shop.deliver('/none', largeOrder('larger', 200_000), 'l')).toBe('503 unavailable');
    await vi.waitFor(
      () => expect(shop.output()).toMatch(/200000 bytes is too large .* \{ large: env.BODIES \}/),
      WAIT,
    );
    expect(ordersOf(await shop.state())).toEqual(['fits']);
  });

  test('no success is answered before the queue has stored the delivery', async () => {
    await shop.faults({ on: ['send rejects'] });
    expect(await shop.deliver('/r2', order('unsent'), 'm')).toBe('503 unavailable');
    for (const bytes of [200_000, 300_000])
      expect(await shop.deliver('/r2', largeOrder('unsent', bytes), 'm')).toBe('503 unavailable');
    // The bodies stay in the bucket until the next test deletes them.
    const sizes = (await offloadedIn('/r2')).map(({ size }) => size);
    expect(sizes.sort()).toEqual([200_000, 300_000]);
    await shop.faults({});
    expect(await shop.deliver('/r2', order('unsent'), 'm')).toBe('200 queued');
    expect((await settledOf(1)).settled).toHaveLength(1);
  });

  test('a sender that hangs up while its delivery is being stored retries, and it is delivered once', async () => {
    await shop.faults({ on: ['send hangs'] });
    const hungUp = shop.deliver('/r2', order('hung'), 'hung', AbortSignal.timeout(500));
    await expect(hungUp).rejects.toThrow('timeout');
    await shop.faults({});
    await vi.waitFor(async () => {
      expect(await shop.deliver('/r2', order('hung'), 'hung')).toBe('200 queued');
    }, WAIT);
    expect(ordersOf(await settledOf(1))).toEqual(['hung']);
  });

  test('a sender that gets no answer, or an error, after its delivery was stored retries, and it is delivered once', async () => {
    await shop.faults({ on: ['send rejects once it has sent'] });
    expect(await shop.deliver('/r2', order('sent'), 'n')).toBe('503 unavailable');
    await shop.faults({});
    expect(await shop.deliver('/r2', order('sent'), 'n')).toBe('200 queued');
    expect(ordersOf(await settledOf(2))).toEqual(['sent']);
  });

  test('if an invocation ends after the effect and before completion, a plain handler runs again', async () => {
    await shop.faults({ on: ['complete hangs and the invocation ends'] });
    await shop.deliver('/r2', order('interrupted'), 'o');
    // The lease has to expire first.
    expect(ordersOf(await settledOf(1))).toEqual(['interrupted', 'interrupted']);
  });

  test('if an invocation ends after completion and before the acknowledgement, the delivery is done', async () => {
    await shop.faults({ on: ['the invocation ends once it is complete'] });
    await shop.deliver('/r2', order('completed'), 'p');
    await vi.waitFor(() => expect(shop.output()).toMatch(/the invocation ends here/), WAIT);
    expect(ordersOf(await settledOf(1))).toEqual(['completed']);
  });

  test('a receiver that cannot be created is logged, and created again for the next batch', async () => {
    await shop.faults({ on: ['the receiver cannot be made'] });
    await shop.forgetReceivers();
    await shop.deliver('/r2', order('later'), 'q');
    await vi.waitFor(
      () => expect(shop.output()).toMatch(/could not be made: .*a secret is missing/),
      WAIT,
    );
    await shop.faults({});
    expect(ordersOf(await settledOf(1))).toEqual(['later']);
  });

  test('a message that is not a delivery is logged, and stays in the dead-letter queue', async () => {
    await shop.post('/message', { hello: 'world' });
    const deadOf = ({ settled }: State) => settled.filter(({ queue }) => queue === 'webhooks-dead');
    await vi.waitFor(async () => {
      const dead = deadOf(await shop.state());
      expect(dead.map(({ how }) => how)).toEqual(['retry', 'retry']);
      expect(dead[1]?.delaySeconds).toBeGreaterThanOrEqual(60);
    }, WAIT);
    expect(shop.output()).toMatch(/could not be processed: .*holds no delivery of this library/);
  });
});
