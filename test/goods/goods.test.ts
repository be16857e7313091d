import { memoryStore } from 'storefront-webhooks';
import { createGoods, type MadeGoods, type MakeGoods } from 'storefront-webhooks/goods';
import { describe, expect, test, vi } from 'vitest';
import { call, keys, ORDER, SECRET } from './calls.js';

const quiet = { onError() {}, onRejected() {} };

const shop = (make: MakeGoods, options = {}) =>
  createGoods({ secret: SECRET, store: memoryStore(), hooks: quiet, ...options }, make);

describe('goods', () => {
  test('are made once for an order, and sent again to each call', async () => {
    const { make } = keys();
    const goods = shop(make);
    const first = await call(goods);
    expect(first).toMatchObject({ status: 200, body: 'KEY-1', outcome: 'handled' });
    expect(first.headers).toEqual({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
    });
    const again = await call(goods, { ...ORDER, updated_at: '2026-11-21T00:00:00Z' });
    expect(again).toEqual({ ...first, outcome: 'duplicate' });
    expect(await call(goods, { ...ORDER, id: 'ord_2' })).toMatchObject({ body: 'KEY-2' });
  });

  test('are made once for simultaneous calls', async () => {
    const shared = keys();
    const goods = shop(shared.make);
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(goods)));
    expect(new Set(answers.map(({ body }) => body))).toEqual(new Set(['KEY-1']));
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
      ...Array(7).fill('duplicate'),
      'handled',
    ]);
    expect(shared.made).toBe(1);
  });

  test('are made once for simultaneous calls to two servers, the slower of which waits', async () => {
    const store = memoryStore();
    const shared = keys();
    const make = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return shared.make();
    };
    const answers = await Promise.all([call(shop(make, { store })), call(shop(make, { store }))]);
    expect(answers.map(({ body }) => body)).toEqual(['KEY-1', 'KEY-1']);
    expect(shared.made).toBe(1);
  });

  test.each<[string, MadeGoods, string]>([
    ['text', 'KEY-1', 'text/plain; charset=utf-8'],
    ['bytes', Uint8Array.of(0, 255, 10, 13, 128), 'application/octet-stream'],
    [
      'text with a type',
      { body: '<b>KEY</b>', contentType: 'text/html; charset=utf-8' },
      'text/html; charset=utf-8',
    ],
    [
      'bytes with a type',
      { body: Uint8Array.of(37, 80), contentType: 'application/pdf' },
      'application/pdf',
    ],
    ['text beyond ASCII', 'Schlüssel\n\u{1f511} \ud800', 'text/plain; charset=utf-8'],
  ])('are %s, the same each time', async (_, made, contentType) => {
    const goods = shop(() => made);
    const body = typeof made === 'object' && 'body' in made ? made.body : made;
    const expected = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    for (const outcome of ['handled', 'duplicate']) {
      const answer = await call(goods);
      expect(answer).toMatchObject({ status: 200, outcome });
      expect([...answer.bytes]).toEqual([...expected]);
      expect(answer.headers['content-type']).toBe(contentType);
    }
  });

  test('stay as they were recorded, even if the function changes its bytes later', async () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const goods = shop(() => bytes);
    const first = await call(goods);
    bytes.fill(0);
    first.bytes.fill(0);
    expect([...(await call(goods)).bytes]).toEqual([1, 2, 3]);
  });

  test('that could not be made lead to a 500, and are made by the next call', async () => {
    const onError = vi.fn();
    const attempts: number[] = [];
    const goods = createGoods(
      { secret: SECRET, store: memoryStore(), hooks: { ...quiet, onError } },
      (_order, { attempt }) => {
        attempts.push(attempt);
        if (attempt < 3) throw new Error('no key is left');
        return 'KEY-1';
      },
    );
    for (const status of [500, 500, 200, 200]) expect((await call(goods)).status).toBe(status);
    expect(attempts).toEqual([1, 2, 3]);
    expect(onError).toHaveBeenCalledTimes(2);
    expect(onError).toHaveBeenLastCalledWith(
      expect.objectContaining({ message: 'no key is left' }),
      { id: 'ord_1', event: 'goods', scope: '', handler: 'goods', attempt: 2 },
    );
  });

  test.each([
    ['nothing', undefined, /returned nothing/],
    ['null', null, /returned null/],
    ['an empty text', '', /returned nothing/],
    ['a blank text', ' \n', /returned nothing/],
    ['no bytes', new Uint8Array(), /returned nothing/],
    ['the text of a missing value', `${undefined}`, /the text "undefined"/],
    ['that text from a shell', 'undefined\n', /the text "undefined", so/],
    ['an object converted to text', `${{}}`, /the text "\[object Object\]"/],
    ['a number', 7, /returned number/],
    ['an object without a content type', { body: 'KEY' }, /returned an object/],
    [
      'a content type with a line end',
      { body: 'KEY', contentType: 'text/plain\r\nx: y' },
      /not valid/,
    ],
    ['a malformed content type', { body: 'KEY', contentType: 'text' }, /contentType/],
    ['more than 1 MiB', 'x'.repeat(1024 * 1024 + 1), /1048577 bytes, but 1048576 is the most/],
  ])('cannot be %s, which is an error without a record', async (_, made, message) => {
    const onError = vi.fn();
    let given: unknown = made;
    const goods = shop(() => given as string, { hooks: { ...quiet, onError } });
    expect(await call(goods)).toMatchObject({ status: 500, outcome: 'failed' });
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        code: 'goods_invalid',
        message: expect.stringMatching(message),
      }),
      expect.objectContaining({ id: 'ord_1' }),
    );
    given = 'KEY-1';
    expect(await call(goods)).toMatchObject({ status: 200, body: 'KEY-1' });
  });

  test('may have 1 MiB', async () => {
    const bytes = new Uint8Array(1024 * 1024).fill(7);
    const goods = shop(() => bytes);
    for (let time = 0; time < 2; time++)
      expect(Buffer.from((await call(goods)).bytes).equals(bytes)).toBe(true);
  });

  test('have a key of the order and scope alone, which no handler shares', async () => {
    const store = memoryStore();
    const seen: string[] = [];
    const make = (_order: unknown, { key }: { key: string }) => {
      seen.push(key);
      return key;
    };
    for (const scope of ['', 'other']) {
      const goods = createGoods({ secret: SECRET, store, scope }, make);
      const first = await call(goods);
      expect(first.body).toMatch(/^[\da-f]{64}$/);
      expect(await call(goods, ORDER, { headers: { 'x-service-webhook': 'whl_2' } })).toMatchObject(
        {
          body: first.body,
          outcome: 'duplicate',
        },
      );
    }
    expect(new Set(seen).size).toBe(2);
  });

  test('can use steps and the signal', async () => {
    let reserved = 0;
    const signals: AbortSignal[] = [];
    const goods = createGoods(
      { secret: SECRET, store: memoryStore(), hooks: quiet },
      async (order, { once, attempt, signal, handler, request, rawBody, scope }) => {
        signals.push(signal);
        const key = await once('reserve', () => `KEY-${++reserved}`);
        if (attempt === 1) throw new Error('after the first step');
        return [key, order.id, handler, request.path, rawBody.length, scope].join(' ');
      },
    );
    expect((await call(goods)).status).toBe(500);
    const { length } = JSON.stringify(ORDER);
    expect((await call(goods)).body).toBe(`KEY-1 ord_1 goods /goods ${length} `);
    expect(reserved).toBe(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  test('are recorded once all steps have ended, including steps that the function does not await', async () => {
    const later = (error?: Error) =>
      new Promise<string>((resolve, reject) =>
        setTimeout(() => (error ? reject(error) : resolve('KEY-1')), 10),
      );
    const [reserve, book, mail] = [vi.fn(later), vi.fn(later), vi.fn()];
    mail.mockRejectedValueOnce(new Error('beside another'));
    reserve.mockImplementationOnce(() => later(new Error('not awaited')));
    const goods = createGoods(
      { secret: SECRET, store: memoryStore(), hooks: quiet },
      async (_, { once }) => {
        const [key] = await Promise.all([once('book', book), once('mail', mail)]);
        void once('reserve', reserve);
        return key;
      },
    );
    expect([await call(goods), await call(goods), await call(goods)]).toMatchObject([
      { status: 500 },
      { status: 500 },
      { status: 200, body: 'KEY-1' },
    ]);
    expect([book, mail, reserve].map(({ mock }) => mock.calls.length)).toEqual([1, 2, 2]);
  });

  test('are recorded once all steps have ended, including a step that starts after one that the function does not await', async () => {
    const reserve = vi.fn(async () => {});
    reserve.mockImplementationOnce(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('nothing left');
    });
    const goods = shop((_, { once }) => {
      once('book', () => {})
        .then(() => once('reserve', reserve))
        .catch(() => {});
      return 'KEY-1';
    });
    expect([await call(goods), await call(goods)]).toMatchObject([
      { status: 500 },
      { status: 200, body: 'KEY-1' },
    ]);
    expect(reserve).toHaveBeenCalledTimes(2);
  });

  test('stay made if a step begins later, as in a timer', async () => {
    const mail = vi.fn(async () => 'sent');
    let step = (): unknown => undefined;
    const goods = shop((_, { once }) => {
      step = () => once('mail', mail);
      return 'KEY-1';
    });
    expect(await call(goods)).toMatchObject({ status: 200, body: 'KEY-1' });
    expect(await step()).toBe('sent');
    expect(await call(goods)).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(mail).toHaveBeenCalledTimes(1);
  });

  test('can be closed: close() waits for the running call, and later calls get 503', async () => {
    const shared = keys();
    const goods = shop(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return shared.make();
    });
    const asked = call(goods);
    await new Promise((resolve) => setTimeout(resolve, 10));
    await goods.close();
    expect(shared.made).toBe(1);
    expect(await asked).toMatchObject({ status: 200, body: 'KEY-1' });
    const late = await call(goods, { ...ORDER, id: 'ord_2' });
    expect(late).toMatchObject({ status: 503, outcome: 'unavailable' });
    expect(shared.made).toBe(1);
  });
});
