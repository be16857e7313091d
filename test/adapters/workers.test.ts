import { Hono } from 'hono';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { toHono } from 'storefront-webhooks/hono';
import { replay } from 'storefront-webhooks/testing';
import { toWorker } from 'storefront-webhooks/workers';
import { expect, test, vi } from 'vitest';
import { SECRET } from './apps/contract.js';

interface Env {
  readonly secret: string;
}

const make = vi.fn(({ secret }: Env) =>
  createReceiver({ secret, store: memoryStore() }).on('*', () => {}),
);

test('a Worker has one receiver for each environment, with its secret', async () => {
  const worker = toWorker(make);
  const waitUntil = vi.fn();
  const send = async (env: Env, secret: string, id: string) => {
    const fetch = (request: Request) => worker.fetch(request, env, { waitUntil });
    return (await replay({ fetch }, 'order:paid', { secret, id })).outcome;
  };
  const one = { secret: 'one secret' };
  const other = { secret: 'another secret' };
  expect(await send(one, 'one secret', '1')).toBe('handled');
  expect(await send(one, 'one secret', '1')).toBe('duplicate');
  expect(await send(other, 'one secret', '1')).toBe('rejected');
  expect(await send(other, 'another secret', '1')).toBe('handled');
  expect(make.mock.calls).toEqual([[one], [other]]);
});

test.each([
  [
    'toWorker',
    (env: Env, waitUntil: (promise: Promise<unknown>) => void) => {
      const worker = toWorker(make);
      return (request: Request) => worker.fetch(request, env, { waitUntil });
    },
  ],
  [
    'toHono',
    (env: Env, waitUntil: (promise: Promise<unknown>) => void) => {
      const app = new Hono().post('/', toHono(make));
      const context = { waitUntil, passThroughOnException() {}, props: {} };
      return async (request: Request) => app.fetch(request, env, context);
    },
  ],
])(
  '%s has the runtime wait until the delivery is done, even if its sender leaves',
  async (_, mount) => {
    const waited: Promise<unknown>[] = [];
    const fetch = mount({ secret: SECRET }, (promise) => waited.push(promise));
    expect(await replay({ fetch }, 'order:paid', { secret: SECRET, path: '/' })).toMatchObject({
      outcome: 'handled',
    });
    expect(waited).toHaveLength(1);
    expect(await waited[0]).toBeInstanceOf(Response);
  },
);
