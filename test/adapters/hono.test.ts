import { Hono, type HonoRequest } from 'hono';
import { validator } from 'hono/validator';
import { createReceiver } from 'storefront-webhooks';
import { toHono } from 'storefront-webhooks/hono';
import { describe, expect, test } from 'vitest';
import { SECRET } from './apps/inside/contract.js';
import { orderOf, webhook } from './corpus.js';

const READERS: Readonly<Record<string, (request: HonoRequest) => Promise<unknown>>> = {
  text: (request) => request.text(),
  json: (request) => request.json(),
  arrayBuffer: (request) => request.arrayBuffer(),
  bytes: (request) => request.bytes(),
  blob: (request) => request.blob(),
};

function mount(limit = 1_000_000) {
  const delivered: string[] = [];
  const receiver = createReceiver({ secret: SECRET, limit, hooks: { onRejected() {} } });
  receiver.onPaid(async ({ payload }) => {
    delivered.push(payload.id);
  });
  const app = new Hono();
  for (const [name, read] of Object.entries(READERS)) {
    app.use(`/${name}`, async ({ req }, next) => {
      await read(req);
      await next();
    });
  }
  app.use(
    '/validated',
    validator('json', (value) => value),
  );
  app.all('/:reader', toHono(receiver));
  const post = (path: string, body: Buffer, signed = body) => {
    const headers = webhook(signed, 'whl_1').map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    return app.request(path, { method: 'POST', headers, body: new Uint8Array(body) });
  };
  return { delivered, post };
}

describe('a body that Hono has read before', () => {
  const order = orderOf(1_000);

  test.each([...Object.keys(READERS), 'validated'])(
    'is verified as it arrived: %s',
    async (name) => {
      const { delivered, post } = mount();
      expect((await post(`/${name}`, order)).status).toBe(200);
      expect(delivered).toHaveLength(1);
    },
  );

  test.each(Object.keys(READERS))('is rejected if it was changed: %s', async (name) => {
    const { delivered, post } = mount();
    const changed = Buffer.from(order.toString().replace(/"id":"\w/, '"id":"X'));
    expect((await post(`/${name}`, changed, order)).status).toBe(401);
    expect(delivered).toEqual([]);
  });

  test.each(Object.keys(READERS))('is rejected if it is too large: %s', async (name) => {
    const { post } = mount(500);
    expect((await post(`/${name}`, order)).status).toBe(413);
  });
});
