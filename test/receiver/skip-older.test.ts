import {
  createReceiver,
  memoryStore,
  type Receiver,
  type WebhookResponse,
} from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { skipWaits } from '../support/clock.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { gate } from '../support/gate.js';

const hooks = { onError() {}, onRejected() {} };
const UPDATED = { event: 'order:updated' };
let ids = 0;

/** Sends a state of an order under its own id. */
function send(receiver: Receiver, updated_at: unknown, changes: object = {}, sent: object = {}) {
  ids += 1;
  const order = paidOrder({ updated_at, ...changes });
  return deliver(receiver, order, { ...UPDATED, id: `whl_${ids}`, ...sent });
}

function shop(store = memoryStore()) {
  const save = vi.fn(async (_: { payload: { updated_at?: unknown } }) => {});
  const receiver = createReceiver({ secret: SECRET, store, hooks }).on('order:*', save, {
    skipOlder: true,
  });
  return { save, receiver, store };
}

/** Returns the outcome of the second of two states. */
async function second(first: unknown, then: unknown) {
  const { receiver } = shop();
  await send(receiver, first);
  return (await send(receiver, then)).outcome;
}

describe('skipOlder compares times', () => {
  test.each([
    ['in microseconds', '2026-11-20T10:00:05.123457Z', '2026-11-20T10:00:05.123456Z'],
    [
      'with fractions of different lengths',
      '2026-11-20T10:00:05.1235Z',
      '2026-11-20T10:00:05.12349Z',
    ],
    ['across offsets', '2026-11-20T10:00:05.000001+00:00', '2026-11-20T12:00:05.000000+02:00'],
    ['in text and in seconds', '2026-11-20T10:00:05Z', 1_795_168_804],
    ['in the format of earlier versions', '2026-11-20 10:00:05 UTC', '2026-11-20 10:00:04 UTC'],
  ])('%s', async (_, newer, older) => {
    expect(await second(newer, older)).toBe('duplicate');
    expect(await second(older, newer)).toBe('handled');
    expect(await second(newer, newer)).toBe('handled');
  });

  test.each<unknown>([undefined, null, '', 'yesterday', {}, '+012026-11-20T10:00:05Z'])(
    'and runs a state without a valid time: %j',
    async (updated_at) => {
      expect(await second('2026-11-20T10:00:05Z', updated_at)).toBe('handled');
    },
  );

  test('and runs a state of the same time in another notation', async () => {
    const same = ['2026-11-20T10:00:05.123000Z', '2026-11-20T10:00:05.123Z'] as const;
    expect([await second(...same), await second(same[1], same[0])]).toEqual(['handled', 'handled']);
  });

  test('that a custom schema has turned into a Date', async () => {
    const save = vi.fn();
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) => {
          const { id, updated_at } = value as { id: string; updated_at: string };
          return { value: { id, updated_at: new Date(updated_at) } };
        },
      },
    } as const;
    const receiver = createReceiver({ secret: SECRET, events: { 'shop:moved': schema } });
    receiver.on('shop:moved', save, { skipOlder: true });
    const sent = { event: 'shop:moved' };
    for (const time of ['2026-11-20T10:00:05Z', '2026-11-20T10:00:04Z'])
      await deliver(receiver, { id: 'shop', updated_at: time }, { ...sent, id: time });
    expect(save).toHaveBeenCalledOnce();
  });
});

describe('skipOlder', () => {
  const [OLD, NEW] = ['2026-11-20T10:00:00Z', '2026-11-20T10:00:01Z'];

  test('keeps records, handlers and scopes separate', async () => {
    const { receiver, save, store } = shop();
    const other = vi.fn();
    receiver.on('order:updated', other, { name: 'other', skipOlder: true, when: isNotNew });
    const everything = vi.fn();
    receiver.on('*', everything);
    await send(receiver, NEW);
    expect(await send(receiver, OLD)).toMatchObject({ ran: ['other', '*'] });
    await send(receiver, OLD, { id: 'ord_2' });
    expect(save).toHaveBeenCalledTimes(2);
    expect(other).toHaveBeenCalledTimes(2);
    expect(everything).toHaveBeenCalledTimes(3);
    const scoped = createReceiver({ secret: SECRET, scope: 'b', store, hooks });
    scoped.on('order:*', save, { skipOlder: true });
    expect(await send(scoped, OLD)).toMatchObject({ outcome: 'handled' });

    function isNotNew({ updated_at }: { updated_at?: string | undefined }) {
      return updated_at !== NEW;
    }
  });

  test('compares the states of all events of a handler, and of its former name', async () => {
    const { save, store } = shop();
    const events = ['order:created', 'order:updated'] as const;
    const first = createReceiver({ secret: SECRET, store, hooks });
    first.on(events, save, { name: 'mirror', skipOlder: true });
    await send(first, NEW, {}, { event: 'order:created' });
    const renamed = createReceiver({ secret: SECRET, store, hooks });
    renamed.on(events, save, { name: 'copy', formerly: 'mirror', skipOlder: true });
    expect(await send(renamed, OLD)).toMatchObject({ outcome: 'duplicate' });
    expect(save).toHaveBeenCalledOnce();
  });

  test('does not record a state whose handler fails, and its retry runs', async () => {
    const { receiver, save } = shop();
    save.mockRejectedValueOnce(new Error('no'));
    expect(await send(receiver, NEW, {}, { id: 'new' })).toMatchObject({ outcome: 'failed' });
    expect(await send(receiver, OLD)).toMatchObject({ outcome: 'handled' });
    expect(await send(receiver, NEW, {}, { id: 'new' })).toMatchObject({ outcome: 'handled' });
    expect(await send(receiver, NEW, {}, { id: 'new' })).toMatchObject({ outcome: 'duplicate' });
    expect(save).toHaveBeenCalledTimes(3);
  });

  test('fails a state that the store cannot record, because an older one would run after it', async () => {
    const real = memoryStore();
    let isDown = true;
    const store = forward(real, {
      completeStep: async (...step) => {
        if (isDown) throw new Error('down');
        return real.completeStep(...step);
      },
    });
    const onError = vi.fn();
    const save = vi.fn();
    const receiver = createReceiver({ secret: SECRET, store, hooks: { onError } });
    receiver.on('order:*', save, { skipOlder: true });
    expect(await send(receiver, NEW, {}, { id: 'new' })).toMatchObject({ status: 503 });
    expect(onError.mock.calls[0]).toMatchObject([
      { code: 'store_unavailable' },
      { handler: 'order:*' },
    ]);
    isDown = false;
    expect(await send(receiver, NEW, {}, { id: 'new' })).toMatchObject({ outcome: 'handled' });
    expect(await send(receiver, OLD)).toMatchObject({ outcome: 'duplicate' });
    expect(save).toHaveBeenCalledTimes(2);
  });

  test.each([
    ['a newer', '2026-11-20T10:00:02Z', 2],
    ['an older', OLD, 1],
  ])(
    'counts a recorded state as done if the answer to the end of its claim is lost, and %s state takes the record over',
    async (_, next, runs) => {
      const real = memoryStore();
      let other: Promise<WebhookResponse> | undefined;
      const store = forward(real, {
        release: async (...claim) => {
          const isReleased = await real.release(...claim);
          if (other) return isReleased;
          other = send(receiver, next);
          await vi.waitFor(() => expect(real.claim).toHaveBeenCalledTimes(4));
          throw new Error('the answer is lost');
        },
      });
      vi.spyOn(real, 'claim');
      const { save, receiver } = shop(store);
      expect(await send(receiver, NEW)).toMatchObject({ outcome: 'handled', ran: ['order:*'] });
      expect(await other).toMatchObject({ outcome: next === OLD ? 'duplicate' : 'handled' });
      expect(save).toHaveBeenCalledTimes(runs);
    },
  );

  test('answers busy while another process runs a state of the record', async () => {
    const { receiver, save, store } = shop();
    const running = gate();
    save.mockReturnValueOnce(running.opened);
    const first = send(receiver, OLD);
    await vi.waitFor(() => expect(save).toHaveBeenCalledOnce());
    const there = shop(store);
    expect(await send(there.receiver, NEW)).toMatchObject({ status: 503, outcome: 'busy' });
    expect(there.save).not.toHaveBeenCalled();
    running.open();
    expect(await first).toMatchObject({ outcome: 'handled' });
  });

  test('leaves a handler the key and the steps of its delivery', async () => {
    const step = vi.fn(() => 'done');
    const keys: string[] = [];
    let isFailing = true;
    const receiver = createReceiver({ secret: SECRET, hooks }).on(
      'order:*',
      async ({ once, key, signal }) => {
        keys.push(key);
        expect(signal.aborted).toBe(false);
        await once('step', step);
        if (isFailing) throw new Error('no');
      },
      { skipOlder: true },
    );
    await send(receiver, OLD, {}, { id: 'one' });
    isFailing = false;
    await send(receiver, OLD, {}, { id: 'one' });
    expect(step).toHaveBeenCalledOnce();
    await send(receiver, NEW);
    expect(step).toHaveBeenCalledTimes(2);
    expect(new Set(keys).size).toBe(2);
  });

  test('aborts the signal and starts no step after the lease of the record is lost', async () => {
    skipWaits();
    const real = memoryStore();
    const subjects = new Map<string, boolean>();
    const store = forward(real, {
      claim: (delivery, lease) => {
        subjects.set(delivery.key, delivery.body === undefined);
        return real.claim(delivery, lease);
      },
      // Only the lease of the record is lost, to another process. Renewals of the delivery's lease succeed.
      renew: async (key, fence, leaseMs) => !subjects.get(key) && real.renew(key, fence, leaseMs),
    });
    const step = vi.fn();
    const ended = gate<unknown>();
    const receiver = createReceiver({ secret: SECRET, store, hooks }).on(
      'order:*',
      async ({ signal, once }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await once('step', step).catch(ended.open);
      },
      { skipOlder: true },
    );
    expect(await send(receiver, OLD)).toMatchObject({ status: 503, outcome: 'busy' });
    expect(await ended.opened).toMatchObject({ code: 'lease_lost' });
    expect(step).not.toHaveBeenCalled();
  });

  test.each<[string, object, string]>([
    ['is not a boolean', { skipOlder: 'yes' }, 'true or false'],
    ['is combined with oncePer', { skipOlder: true, name: 'a', oncePer: () => 'a' }, 'oncePer'],
    ['has several patterns and no name', { skipOlder: true }, 'needs a name'],
  ])('that %s is rejected', (_, options, message) => {
    const receiver = createReceiver({ secret: SECRET });
    const events = ['order:paid', 'order:updated'] as const;
    expect(() => receiver.on(events, () => {}, options)).toThrow(
      expect.objectContaining({
        code: 'handler_invalid',
        message: expect.stringContaining(message),
      }),
    );
  });
});
