import type {
  Claimable,
  FailTerms,
  IdempotencyStore,
  LeaseTerms,
  StoredDelivery,
  UnfinishedState,
} from 'storefront-webhooks';
import { expect, test } from 'vitest';
import { LONG_AGO_MS } from './model.js';

interface Subject {
  readonly store: () => IdempotencyStore;
  readonly newDelivery: () => Claimable;
  /** Claims a delivery, and gives the fence. */
  readonly claim: (terms: Partial<LeaseTerms>, delivery: Claimable) => Promise<number>;
}

const STATES: readonly UnfinishedState[] = ['dead', 'stalled', 'failing'];
const LATER_MS = 60_000;
const RETRY: FailTerms = { permanent: false, error: 'it threw' };

/** What a person finds in a store, in whichever state it is. */
export function testListing({ store, newDelivery, claim }: Subject): void {
  const fail = async (delivery: Claimable, terms: Partial<FailTerms> = {}) =>
    store().fail(delivery.key, await claim({ leaseMs: LATER_MS }, delivery), {
      ...RETRY,
      ...terms,
    });
  const lapse = (delivery: Claimable) => claim({ leaseMs: -1, maxCrashes: 9 }, delivery);
  const keysIn = async (state: UnfinishedState) =>
    (await store().list({ state, limit: 99 })).map(({ key }) => key);
  const one = async (state: UnfinishedState): Promise<StoredDelivery> => {
    const [first, ...others] = await store().list({ state, limit: 9 });
    if (!first || others.length > 0) throw new Error(`not one is ${state}`);
    return first;
  };
  const bodied = (body: string) => ({ ...newDelivery(), body: new TextEncoder().encode(body) });

  test('has each delivery that is unfinished in one state, or in none', async () => {
    const first = newDelivery();
    const waiting = newDelivery();
    const running = newDelivery();
    const lapsed = newDelivery();
    const crashed = newDelivery();
    const released = newDelivery();
    const stalled = newDelivery();
    const dead = newDelivery();
    const done = newDelivery();
    await claim({ leaseMs: LATER_MS }, first);
    await fail(waiting);
    await fail(running);
    await claim({ leaseMs: LATER_MS }, running);
    await lapse(lapsed);
    await lapse(crashed);
    await claim({ leaseMs: LATER_MS, maxCrashes: 9 }, crashed);
    await store().release(released.key, await claim({ leaseMs: LATER_MS }, released));
    await claim({ leaseMs: LONG_AGO_MS }, stalled);
    await fail(dead, { permanent: true });
    await fail(done);
    await store().complete(done.key, await claim({ leaseMs: LATER_MS }, done), LATER_MS);

    const sorted = (...deliveries: Claimable[]) => deliveries.map(({ key }) => key).sort();
    const failing = sorted(waiting, running, lapsed, crashed);
    expect(await keysIn('failing')).toEqual(failing);
    expect(await keysIn('stalled')).toEqual(sorted(stalled));
    expect(await keysIn('dead')).toEqual(sorted(dead));
    expect(await Promise.all(STATES.map((state) => store().count({ state })))).toEqual([1, 1, 4]);

    const page = await store().list({ state: 'failing', limit: 3 });
    const rest = await store().list({ state: 'failing', limit: 3, after: page[2]?.key });
    expect([...page, ...rest].map(({ key }) => key)).toEqual(failing);
    const scoped = (scope: string) => store().list({ state: 'failing', scope, limit: 9 });
    expect(await scoped('shop')).toHaveLength(4);
    expect(await scoped('books')).toEqual([]);
  });

  test('has no effect among what is failing', async () => {
    await fail({ ...newDelivery(), body: undefined });
    await lapse({ ...newDelivery(), body: undefined });
    expect(await keysIn('failing')).toEqual([]);
    expect(await store().count({ state: 'failing' })).toBe(0);
  });

  test('has what was redriven failing no more, until it fails again', async () => {
    const delivery = newDelivery();
    await fail(delivery);
    await fail(delivery, { permanent: true });
    expect(await store().redrive(delivery.key)).toBe(true);
    for (const state of STATES) expect(await keysIn(state)).toEqual([]);
    await fail(delivery);
    expect(await one('failing')).toMatchObject({ key: delivery.key, attempts: 1 });
  });

  test('redrives nothing that is failing', async () => {
    const delivery = newDelivery();
    await fail(delivery);
    expect(await store().redrive(delivery.key)).toBe(false);
    expect(await keysIn('failing')).toEqual([delivery.key]);
  });

  test('says when it came, was tried last and is due, as dates', async () => {
    const delivery = newDelivery();
    const close = (date: Date | undefined, ms: number) => {
      expect(date).toBeInstanceOf(Date);
      expect(Math.abs(Number(date) - ms)).toBeLessThan(15_000);
    };
    await fail(delivery);
    const failing = await one('failing');
    expect(failing).toMatchObject({ state: 'failing', attempts: 1, error: 'it threw' });
    expect(failing.receivedAt).toEqual(new Date(delivery.receivedAt));
    close(failing.lastTriedAt, Date.now());
    close(failing.dueAt, Date.now());
    await claim({ leaseMs: LATER_MS }, delivery);
    close((await one('failing')).dueAt, Date.now() + LATER_MS);

    const other = newDelivery();
    await claim({ leaseMs: LONG_AGO_MS }, other);
    const stalled = await one('stalled');
    close(stalled.lastTriedAt, Date.now());
    close(stalled.dueAt, Date.now() + LONG_AGO_MS);
    expect(stalled.error).toBe(undefined);

    await store().fail(other.key, await claim({ leaseMs: LATER_MS }, other), {
      ...RETRY,
      permanent: true,
    });
    const dead = await one('dead');
    close(dead.lastTriedAt, Date.now());
    expect(dead.dueAt).toBe(undefined);
  });

  test.each([
    ['an order', '{"id":"ord_7","email":"a@example.com"}', 'ord_7', 'a@example.com'],
    [
      'an order in an event',
      '{"event":"order:paid","id":"no","data":{"id":"ord_8","email":"b@example.com"}}',
      'ord_8',
      'b@example.com',
    ],
    ['an order with data of its own', '{"id":"ord_9","data":{"id":"no"}}', 'ord_9', undefined],
    ['an id that is no text', '{"id":9,"email":null}', undefined, undefined],
    ['a list', '[{"id":"no"}]', undefined, undefined],
    ['a text', '"id"', undefined, undefined],
    ['null', 'null', undefined, undefined],
    ['no JSON', '{"id":"ord_1"', undefined, undefined],
    ['nothing at all', '', undefined, undefined],
    ['an id without end', `{"id":"${'x'.repeat(9_999)}"}`, 'x'.repeat(200), undefined],
  ])('reads which order it is about out of %s', async (_, body, orderId, email) => {
    const delivery = bodied(body);
    await fail(delivery);
    const failing = await one('failing');
    expect({ orderId: failing.orderId, email: failing.email }).toEqual({ orderId, email });
    expect(new TextDecoder().decode(failing.body)).toBe(body);
  });

  test('keeps the proof of a body with it, and has none where there was none', async () => {
    const proofs = ['{"signature":"ab\\u0000","é💥":[1]}', '', 'p'.repeat(20_000), undefined];
    for (const proof of proofs) {
      const delivery = { ...newDelivery(), proof };
      await fail(delivery);
      // What comes again may have another: that of the body counts.
      const again = { ...delivery, proof: 'another' };
      const fence = await claim({ leaseMs: LATER_MS }, again);
      const failing = await one('failing');
      expect(failing.proof).toBe(proof);
      await store().complete(delivery.key, fence, LATER_MS);
      expect(await keysIn('failing')).toEqual([]);
    }
  });

  test('gives a sealed delivery back as it was', async () => {
    const delivery = { ...newDelivery(), proof: 'the proof' };
    await fail(delivery, { permanent: true });
    const {
      body,
      receivedAt,
      state,
      attempts,
      error,
      interrupted,
      orderId,
      email,
      lastTriedAt,
      dueAt,
      ...rest
    } = await one('dead');
    expect(interrupted).toBe(false);
    expect({ ...rest, receivedAt: receivedAt.getTime() }).toEqual({ ...delivery, body: undefined });
    expect(Buffer.from(body).equals(Buffer.from(delivery.body ?? []))).toBe(true);
  });
}
