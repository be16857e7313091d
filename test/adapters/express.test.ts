import type { Server } from 'node:http';
import express5 from 'express';
import express4 from 'express4';
import { createReceiver, type Receiver } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { loadFixture, replay, sign } from 'storefront-webhooks/testing';
import request from 'supertest';
import { describe, expect, test, vi } from 'vitest';
import { paidOrder, SECRET } from '../support/deliver.js';

const body = JSON.stringify(paidOrder());

/** A paid order, as the provider sends it. */
function post(app: express5.Express | Server, path: string) {
  return request(app)
    .post(path)
    .set('Content-Type', 'application/json')
    .set('X-Service-Event', 'order:paid')
    .set('X-Service-Webhook', 'whl_1')
    .set('X-Service-Signature', sign(body, SECRET))
    .send(body);
}

describe.each([
  ['Express 4', express4],
  ['Express 5', express5],
])('%s', (_, express) => {
  function setUp() {
    const handler = vi.fn();
    const onError = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { onError, onRejected() {} } }).on(
      '*',
      handler,
    );
    return { app: express(), handler, onError, receiver };
  }

  test('answers on app.post', async () => {
    const { app, receiver, handler } = setUp();
    app.post('/webhooks', toExpress(receiver));
    const response = await post(app, '/webhooks');
    expect(response.status).toBe(200);
    const receipt = response.headers['webhook-receipt'];
    expect(response.body).toEqual({ message: 'Handled.', outcome: 'handled', receipt });
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(response.text.length),
    });
    expect(handler).toHaveBeenCalledOnce();
  });

  test('answers on app.use, and returns 405 for other methods', async () => {
    const { app, receiver } = setUp();
    app.use('/webhooks', toExpress(receiver));
    expect((await post(app, '/webhooks')).status).toBe(200);
    const response = await request(app).get('/webhooks');
    expect(response.status).toBe(405);
    expect(response.headers.allow).toBe('POST');
  });

  test('answers under a Router', async () => {
    const { app, receiver } = setUp();
    const router = express.Router();
    router.post('/incoming', toExpress(receiver));
    app.use('/shop', router);
    expect((await post(app, '/shop/incoming')).status).toBe(200);
  });

  test('passes on the whole path under a Router, by which a secret function chooses the shop', async () => {
    const paths: unknown[] = [];
    const secret = ({ url }: { url?: string | undefined }) => {
      paths.push(url);
      return { scope: 'shop', secret: SECRET };
    };
    const shops = createReceiver({ secret }).on('*', () => {});
    const app = express();
    const router = express.Router();
    router.post('/incoming', toExpress(shops));
    app.use('/shop', router);
    expect((await post(app, '/shop/incoming?a=1')).status).toBe(200);
    expect(paths).toEqual(['/shop/incoming?a=1']);
  });

  test('works above express.json(), which still parses other routes', async () => {
    const { app, receiver } = setUp();
    app.post('/webhooks', toExpress(receiver));
    app.use(express.json());
    app.post('/other', (incoming, response) => {
      response.json(incoming.body);
    });
    expect((await post(app, '/webhooks')).status).toBe(200);
    expect((await request(app).post('/other').send({ a: 1 })).body).toEqual({ a: 1 });
  });

  test('behind express.json(), the error names the line to change', async () => {
    const { app, receiver, onError, handler } = setUp();
    app.use(express.json());
    app.post('/webhooks', toExpress(receiver));
    const response = await post(app, '/webhooks');
    expect(response.status).toBe(500);
    expect(response.body).toMatchObject({ outcome: 'failed' });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      code: 'body_consumed',
      message: expect.stringContaining('above app.use(express.json())'),
    });
    expect(handler).not.toHaveBeenCalled();
  });

  test.each(['express.text', 'express.urlencoded'] as const)(
    'behind %s, the error names the parser as well',
    async (name) => {
      const { app, receiver, onError } = setUp();
      const parse = { 'express.text': express.text, 'express.urlencoded': express.urlencoded }[
        name
      ];
      app.use(parse({ type: () => true }));
      app.post('/webhooks', toExpress(receiver));
      expect((await post(app, '/webhooks')).status).toBe(500);
      expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'body_consumed' });
    },
  );

  test('behind code that has the body read as text, the error says that its bytes are gone', async () => {
    const { app, receiver, onError, handler } = setUp();
    app.use((incoming, _response, next) => {
      incoming.setEncoding('utf8');
      next();
    });
    app.post('/webhooks', toExpress(receiver));
    expect((await post(app, '/webhooks')).status).toBe(500);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'body_consumed' });
    expect(handler).not.toHaveBeenCalled();
  });

  test('behind a parser that found nothing to parse, the body is still read', async () => {
    const { app, receiver } = setUp();
    // The parser leaves req.body as {} in Express 4 and undefined in Express 5, and does not read the stream.
    app.use(express.json({ type: 'application/vnd.other' }));
    app.post('/webhooks', toExpress(receiver));
    expect((await post(app, '/webhooks')).status).toBe(200);
  });

  test('accepts the bytes that express.raw() leaves in req.body', async () => {
    const { app, receiver } = setUp();
    app.post('/webhooks', express.raw({ type: () => true }), toExpress(receiver));
    expect((await post(app, '/webhooks')).status).toBe(200);
  });

  test('accepts the bytes that a parser keeps in req.rawBody', async () => {
    const { app, receiver } = setUp();
    app.use(
      express.json({
        verify(incoming, _response, bytes) {
          Object.assign(incoming, { rawBody: bytes });
        },
      }),
    );
    app.post('/webhooks', toExpress(receiver));
    expect((await post(app, '/webhooks')).status).toBe(200);
  });

  test('applies the limit to bytes that a parser has read before', async () => {
    const { app } = setUp();
    const receiver = createReceiver({ secret: SECRET, limit: body.length - 1 }).on('*', () => {});
    app.post('/webhooks', express.raw({ type: () => true }), toExpress(receiver));
    expect((await post(app, '/webhooks')).status).toBe(413);
  });

  test('accepts a large body in many pieces if the limit permits it', async () => {
    const { app } = setUp();
    const receiver = createReceiver({
      secret: SECRET,
      limit: 4 * 1024 * 1024,
      bodyTimeout: 20_000,
    }).on('*', () => {});
    app.post('/webhooks', toExpress(receiver));
    const paid = loadFixture('order:paid');
    const order = JSON.parse(Buffer.from(paid.body).toString());
    const large = Buffer.from(JSON.stringify({ ...order, padding: 'x'.repeat(3 * 1024 * 1024) }));
    const sent = { ...paid, body: large };
    expect(
      await replay(app, sent, { secret: SECRET, chunks: 10_500, timeout: 20_000 }),
    ).toMatchObject({
      status: 200,
    });
  });

  test('creates the receiver at the first request, once', async () => {
    const { app, receiver } = setUp();
    const make = vi.fn(async () => receiver);
    app.post('/webhooks', toExpress(make));
    expect(make).not.toHaveBeenCalled();
    await Promise.all([post(app, '/webhooks'), post(app, '/webhooks')]);
    expect(make).toHaveBeenCalledOnce();
  });

  test('answers 500 if the function that creates the receiver fails, logs the error, and calls it again', async () => {
    const { app, receiver } = setUp();
    const write = vi.spyOn(console, 'error').mockImplementation(() => {});
    const make = vi
      .fn<() => Receiver>()
      .mockImplementationOnce(() => {
        throw new Error('no\nsecret');
      })
      .mockReturnValue(receiver);
    app.post('/webhooks', toExpress(make));
    const response = await post(app, '/webhooks');
    expect(response.status).toBe(500);
    expect(response.body).toEqual({
      message: 'The webhook could not be handled. Retry it.',
      outcome: 'failed',
    });
    expect(write).toHaveBeenCalledExactlyOnceWith(
      'storefront-webhooks: the receiver could not be made: Error: no\\u{a}secret. See node_modules/storefront-webhooks/docs/operate.md#receiver-failed',
    );
    write.mockRestore();
    expect((await post(app, '/webhooks')).status).toBe(200);
  });

  test('writes nothing if other code has answered in the meantime', async () => {
    const { app, receiver } = setUp();
    const errors = vi.fn();
    app.use((_request, response, next) => {
      response.status(202).end();
      next();
    });
    app.post('/webhooks', toExpress(receiver));
    app.use(errors);
    expect((await post(app, '/webhooks')).status).toBe(202);
    expect(errors).not.toHaveBeenCalled();
  });
});
