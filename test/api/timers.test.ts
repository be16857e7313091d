import { createClient, type Fetch } from 'storefront-webhooks/api';
import { expect, onTestFinished, test, vi } from 'vitest';

const PRODUCT = { id: 'prd_1', title: 'Tuner', product_type: 'file' };

const answer =
  (status: number): Fetch =>
  async () => ({
    ...{ status, headers: new Headers() },
    text: async () => JSON.stringify(status === 200 ? PRODUCT : { message: 'no' }),
  });

test.each<[string, Fetch]>([
  ['is answered', answer(200)],
  ['is refused', answer(404)],
  ['fails', () => Promise.reject(new Error('reset'))],
  ['is aborted', () => new Promise(() => {})],
  ['is aborted before its retry', answer(503)],
])('a call that %s leaves no timer, which would keep the program running', async (how, fetch) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { products } = createClient({
    ...{ baseUrl: 'https://shop.test', auth: { accessToken: 'tok_1' }, fetch },
    retries: how.endsWith('retry') ? 1 : 0,
  });
  const stop = new AbortController();
  const call = products.get('prd_1', { signal: stop.signal, onIssues() {} }).catch(() => {});
  if (how.startsWith('is aborted')) {
    // By then, only the time limit or the pause is left.
    await new Promise(setImmediate);
    expect(vi.getTimerCount()).toBe(1);
    stop.abort();
  }
  await call;
  expect(vi.getTimerCount()).toBe(0);
});
