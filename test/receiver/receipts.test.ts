import * as fc from 'fast-check';
import { createReceiver, type Delivery, type ReceiverOptions } from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import { OUTCOMES } from '../../src/request/outcome.js';
import { findReceipt, isGenuine, writeReceipt } from '../../src/request/receipt.js';
import { sign } from '../../src/request/signature.js';
import { sha2 } from '../../src/runtime/hashes.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

const quiet = { onRejected() {}, onError() {} };

function receiverWith(options: Partial<ReceiverOptions> = {}) {
  return createReceiver({ secret: SECRET, hooks: quiet, ...options }).on('order:paid', () => {});
}

async function keyOf(receiver: ReturnType<typeof receiverWith>, payload: unknown): Promise<string> {
  const body = new TextEncoder().encode(JSON.stringify(payload));
  const given = await receiver.verify({
    method: 'POST',
    headers: {
      'x-service-event': 'order:paid',
      'x-service-webhook': 'whl_1',
      'x-service-signature': sign(body, SECRET),
    },
    body,
  });
  return (given as Delivery).key;
}

describe('the receipt of an answer', () => {
  test('is the same in the header and in the body, and names the outcome and the delivery', async () => {
    const receiver = receiverWith();
    const before = Math.floor(Date.now() / 1000) * 1000;
    const { headers, body } = await deliver(receiver, paidOrder());
    expect(JSON.parse(body).receipt).toBe(headers['webhook-receipt']);
    const receipt = findReceipt(body);
    expect(receipt).toMatchObject({
      outcome: 'handled',
      key: await keyOf(receiver, paidOrder()),
    });
    expect(receipt?.answeredAt.getTime()).toBeGreaterThanOrEqual(before);
    expect(receipt?.answeredAt.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test.each<[string, Sent]>([
    ['handled', {}],
    ['duplicate', {}],
    ['ignored', { event: 'order:created' }],
    ['failed', { payload: paidOrder({ id: 'ord_failing' }) }],
    ['rejected', { payload: paidOrder({ status: 0 }) }],
  ])('states %s', async (outcome, { payload = paidOrder(), ...sent }) => {
    const receiver = createReceiver({ secret: SECRET, hooks: quiet }).on(
      'order:paid',
      ({ payload: { id } }) => {
        if (id === 'ord_failing') throw new Error('no');
      },
    );
    if (outcome === 'duplicate') await deliver(receiver, payload, sent);
    const { body, headers } = await deliver(receiver, payload, sent);
    const receipt = findReceipt(body);
    expect(receipt?.outcome).toBe(outcome);
    expect(findReceipt(headers['webhook-receipt'] ?? '')).toEqual(receipt);
    expect(receipt && isGenuine(receipt, 'whl_1', [SECRET])).toBe(true);
  });

  test('is given only to a sender with a valid signature', async () => {
    const receiver = receiverWith();
    const { status, headers, body } = await deliver(receiver, paidOrder(), { secret: 'a guess' });
    expect([status, Object.keys(headers)]).toEqual([401, ['content-type']]);
    expect(findReceipt(body)).toBeUndefined();
  });

  test('uses the remaining secret while one is being replaced', async () => {
    const receiver = receiverWith({ secret: ['the new secret', SECRET] });
    const receipt = findReceipt((await deliver(receiver, paidOrder())).body);
    expect(receipt && isGenuine(receipt, 'whl_1', ['the new secret'])).toBe(true);
    expect(receipt && isGenuine(receipt, 'whl_1', [SECRET])).toBe(false);
  });

  test('prepares one signer for a secret that comes as new bytes for each delivery', async () => {
    const signer = vi.spyOn(sha2, 'signer');
    const fresh = () => new TextEncoder().encode('a secret as bytes');
    const receiver = receiverWith({ secret: () => ({ secret: fresh(), scope: 'a' }) });
    for (let turn = 0; turn < 5; turn++) {
      const order = paidOrder({ id: `ord_${turn}` });
      const receipt = findReceipt(
        (await deliver(receiver, order, { secret: 'a secret as bytes' })).body,
      );
      expect(receipt && isGenuine(receipt, 'whl_1', [fresh()])).toBe(true);
    }
    expect(signer).toHaveBeenCalledTimes(1);
    // The hexadecimal digits of a secret are another secret.
    const stated = { key: 'f'.repeat(64), id: 'whl_1' };
    const digits = '6120736563726574206173206279746573';
    expect(writeReceipt(stated, 'handled', digits, 0)).not.toBe(
      writeReceipt(stated, 'handled', fresh(), 0),
    );
  });

  test('keeps the signers of a few secrets, however many shops there are', () => {
    const signer = vi.spyOn(sha2, 'signer');
    const stated = { key: 'f'.repeat(64), id: 'whl_1' };
    const ofAllShops = () => {
      for (let shop = 0; shop < 100; shop++) writeReceipt(stated, 'handled', `of shop ${shop}`, 0);
    };
    ofAllShops();
    signer.mockClear();
    ofAllShops();
    expect(signer).toHaveBeenCalledTimes(100);
  });

  test("uses the secret of the delivery's shop", async () => {
    const secrets: Record<string, string> = { a: 'of shop a', b: 'of shop b' };
    const receiver = receiverWith({
      secret: ({ url = '' }) => ({ secret: secrets[url.slice(1)] ?? '', scope: url.slice(1) }),
    });
    const sent = { secret: 'of shop b', url: '/b' };
    const receipt = findReceipt((await deliver(receiver, paidOrder(), sent)).body);
    expect(receipt && isGenuine(receipt, 'whl_1', ['of shop b'])).toBe(true);
    expect(receipt && isGenuine(receipt, 'whl_1', ['of shop a'])).toBe(false);
  });

  test('is not a valid signature of any delivery', async () => {
    const { headers } = await deliver(receiverWith(), paidOrder());
    const [, , , , code = ''] = headers['webhook-receipt']?.split('.') ?? [];
    const stated = headers['webhook-receipt']?.slice(0, -code.length - 1) ?? '';
    expect(sign(stated, SECRET)).not.toContain(code);
    expect(sign(JSON.stringify([stated, 'whl_1']), SECRET)).not.toContain(code);
  });

  test('is found anywhere in a text, and is genuine only if unchanged', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...OUTCOMES),
        fc.string({ minLength: 1, maxLength: 300 }),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.nat(2_000_000_000),
        fc.nat(200),
        (outcome, id, bytes, seconds, at) => {
          const key = Buffer.from(bytes).toString('hex');
          const text = writeReceipt({ key, id }, outcome, SECRET, seconds * 1000 + 999);
          const receipt = findReceipt(`{"message":"${outcome}","receipt":"${text}"} `);
          expect(receipt).toMatchObject({ outcome, key, answeredAt: new Date(seconds * 1000) });
          expect(receipt && isGenuine(receipt, id, ['another', SECRET, 'a third'])).toBe(true);
          expect(receipt && isGenuine(receipt, `${id} `, [SECRET])).toBe(false);
          const place = at % text.length;
          const other = text[place] === '1' ? '2' : '1';
          const forged = findReceipt(text.slice(0, place) + other + text.slice(place + 1));
          expect(forged !== undefined && isGenuine(forged, id, [SECRET])).toBe(false);
        },
      ),
    );
  });
});

interface Sent {
  readonly event?: string;
  readonly payload?: unknown;
}
