import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Listener, startListener } from './listener.js';
import { openShop } from './shop.js';

let listener: Listener;
let shop: ReturnType<typeof openShop>;
beforeEach(async () => {
  listener = await startListener();
  shop = openShop();
});
afterEach(async () => {
  await shop.close();
  await listener.close();
});

describe('the log', () => {
  test('[spec: Webhook log] has the response code 0 until the response comes', async () => {
    shop.subscribe(listener.url);
    let whileAnswering: unknown;
    listener.answer(() => {
      whileAnswering = shop.logs()[0];
      return {
        status: 202,
        body: 'thanks',
        headers: { 'X-Seen': 'yes', 'set-cookie': ['a=1', 'b=2'] },
      };
    });
    const order = shop.order();
    const pending = {
      url: listener.url,
      payload: order.shown,
      event: 'order:created',
      response: null,
      response_code: 0,
      response_headers: null,
      retries: 0,
      retry_limit: 8,
      next_retry_at: null,
    };
    expect(shop.logs()).toMatchObject([pending]);
    await shop.idle();
    expect(whileAnswering).toMatchObject(pending);
    expect(shop.logs()).toMatchObject([
      {
        ...pending,
        response: 'thanks',
        response_code: 202,
        response_headers: { 'x-seen': 'yes', 'set-cookie': 'a=1, b=2' },
      },
    ]);
  });

  test.each([
    [
      'redirects are not followed',
      { status: 302, headers: { location: '/elsewhere' }, body: '' },
      302,
    ],
    ['an error is kept', { status: 418, body: 'short and stout' }, 418],
  ])('%s', async (_, answer, code) => {
    shop.subscribe(listener.url);
    listener.answer(answer);
    shop.order();
    await shop.idle();
    expect(listener.came).toHaveLength(1);
    expect(shop.logs()).toMatchObject([{ response_code: code, response: answer.body }]);
  });

  test('keeps 64 KiB of a response that never ends', async () => {
    shop.subscribe(listener.url);
    listener.answer('endless');
    shop.order();
    await shop.idle();
    expect(shop.logs()).toMatchObject([{ response_code: 200, response: 'a'.repeat(64 * 1024) }]);
  });

  test('keeps the code 0 and gives the reason if the server does not answer', async () => {
    // Nothing listens on this port.
    shop.subscribe('http://127.0.0.1:1/');
    shop.subscribe(listener.url);
    listener.answer('reset');
    shop.order();
    await shop.idle();
    const impatient = openShop({ timeout: 100 });
    impatient.subscribe(listener.url);
    listener.answer('hang');
    impatient.order();
    await impatient.idle();
    const logs = [...shop.logs(), ...impatient.logs()];
    for (const log of logs) {
      expect(log).toMatchObject({ response_code: 0, response_headers: null });
      expect(log.next_retry_at).toBe('2026-11-20T10:00:10.000000+00:00');
    }
    expect(logs.map(({ response }) => response)).toEqual([
      expect.stringMatching(/^No answer: .*ECONNREFUSED.*\.$/),
      'No answer: socket hang up.',
      'No answer: not within 100 ms.',
    ]);
    await impatient.close();
  });

  test('counts an attempt as failed after 10 seconds without an answer', async () => {
    // A limit of undefined is no limit of the test's own: the default is in force.
    const usual = openShop({ timeout: undefined });
    onTestFinished(() => usual.close());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    usual.subscribe(listener.url);
    const arrived = new Promise<void>((resolve) => {
      listener.answer(() => {
        resolve();
        return 'hang';
      });
    });
    usual.order();
    await arrived;
    // Not to the next timer, which may belong to a file that ran before in this worker.
    vi.advanceTimersByTime(10_000);
    await usual.idle();
    expect(usual.logs()).toMatchObject([
      { response_code: 0, response: 'No answer: not within 10000 ms.' },
    ]);
  });
});
