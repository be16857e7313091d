import { loadFixture, replay, shippedFixtures } from 'storefront-webhooks/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Connection, head } from '../support/raw-http.js';
import { GOODS_END, LIMIT, SECRET } from './apps/inside/contract.js';
import {
  answered,
  DOWN,
  DUPLICATE,
  FAILED,
  FAILED_EARLY,
  GENUINE,
  HANDLED,
  NOT_POST,
  orderOf,
  REFUSED,
  type Seen,
  type Sent,
  seen,
  webhook,
  write,
} from './corpus.js';

/** An application under the contract, on any runtime. */
export interface Mounted {
  /** The prefix of its paths. */
  readonly origin: string;
  /** Returns the lines that the application's receivers have logged so far. */
  output(): string;
  stop(): Promise<void>;
}

const order = orderOf(1_000);

interface Differences {
  /** Matches the name and version that the runtime reports. */
  readonly runtime?: RegExp;
  /** The line to change that the error names after the framework has parsed the body. */
  readonly parsed?: RegExp;
  /** Whether the platform hands over a body only when it is complete. */
  readonly buffers?: boolean;
  /** Whether the platform delays an answer until it has the complete body. */
  readonly holdsBack?: boolean;
  /** Whether the platform always sends answers in chunks, even with a declared length. */
  readonly chunks?: boolean;
}

/** Tests every adapter's behaviour byte for byte, so that a seller can move from one framework to another. */
export function adapterContract(
  name: string,
  mount: () => Promise<Mounted>,
  {
    runtime = new RegExp(`on Node\\.js/${process.versions.node.split('.')[0]}`),
    parsed = /raw body is gone/,
    buffers = false,
    holdsBack = buffers,
    chunks = false,
  }: Differences = {},
): void {
  describe(name, () => {
    let app: Mounted;
    let connections: Connection[] = [];
    let sent = 0;

    // Slow requests start here, and run beside the other tests.
    let unfinished: Connection | undefined;
    let patient: Connection | undefined;
    let down: Promise<Seen>;

    beforeAll(async () => {
      app = await mount();
      patient = await open();
      const id = freshId();
      down = send({ path: '/down', body: order, headers: webhook(order, id) }, patient);
      // The test that awaits this request reports its failure.
      down.catch(() => {});
      if (holdsBack) return;
      unfinished = await open();
      const headers = [...webhook(order, freshId()), ['Content-Length', order.length]] as const;
      await unfinished.send(head(headers, { path: under('/down') }), order.subarray(0, 500));
    });
    afterAll(() => {
      unfinished?.close();
      patient?.close();
      return app?.stop();
    });
    afterEach(() => {
      for (const connection of connections) connection.close();
      connections = [];
    });

    function open(): Promise<Connection> {
      const { hostname, port } = new URL(app.origin);
      return Connection.open({ address: hostname, port: Number(port), family: 'IPv4' });
    }

    async function connect(): Promise<Connection> {
      const connection = await open();
      connections.push(connection);
      return connection;
    }

    const under = (path: string) => (app.origin + path).replace(/^http:\/\/[^/]+/, '');

    /** Waits for a line, which may be written after the answer. */
    async function written(text: string | RegExp): Promise<void> {
      await vi.waitFor(() => expect(app.output()).toMatch(text));
    }

    function freshId(): string {
      sent += 1;
      return `whl_${name.replaceAll(/\W/g, '_')}_${sent}`;
    }

    async function send({ path = '/webhooks', ...request }: Sent, own?: Connection): Promise<Seen> {
      const connection = own ?? (await connect());
      // The server answers an early rejection, and closes the connection, before the whole body is sent.
      void connection.send(...write({ ...request, path: under(path) }));
      const isHead = request.method === 'HEAD';
      const answer = await connection.answer({ isHead });
      const { length } = isHead ? NOT_POST.body : answer.body;
      expect(answer.headers['content-length']).toBe(chunks ? undefined : String(length));
      return seen(answer);
    }

    function post(path: string, id: string, event?: string): Promise<Seen> {
      return send({ path, body: order, headers: webhook(order, id, event) });
    }

    test.each(shippedFixtures())('%s gets its expected answer', async (fixture) => {
      const url = `${app.origin}/${fixture.startsWith('goods/') ? 'goods' : 'webhooks'}`;
      if (fixture === 'order:paid/duplicate') await replay(url, 'order:paid', { secret: SECRET });
      // If this test runs alone, no earlier test has sent the first copy of the delivery.
      const retried = fixture === 'query:replied/retry' && { id: freshId() };
      const { status, outcome } = await replay(url, fixture, { secret: SECRET, ...retried });
      expect({ status, outcome }).toEqual(loadFixture(fixture).expect);
    });

    test('runs on the expected runtime, with the HMAC of RFC 4231', async () => {
      await written(runtime);
      await written('6 of 6 vectors hold');
    });

    test.each(GENUINE)('%s is handled, and reaches the handler byte for byte', async (_, text) => {
      const id = freshId();
      const body = Buffer.from(text);
      expect(await send({ body, headers: webhook(body, id) })).toEqual(HANDLED);
      await written(`handled ${id} of ${body.length} bytes.`);
    });

    test('a body in chunks of any size is handled', async () => {
      const id = freshId();
      const headers = webhook(order, id);
      expect(await send({ body: order, headers, chunkBytes: 7 })).toEqual(HANDLED);
      await written(`handled ${id} of ${order.length} bytes.`);
    });

    test('a body of exactly the limit is handled, with or without a declared length', async () => {
      const body = orderOf(LIMIT);
      expect(await send({ body, headers: webhook(body, freshId()) })).toEqual(HANDLED);
      const chunkBytes = 10_000;
      expect(await send({ body, headers: webhook(body, freshId()), chunkBytes })).toEqual(HANDLED);
    });

    test.each(REFUSED)('%s is rejected', async (_, request, expected) => {
      const id = freshId();
      expect(await send(request(id))).toEqual(expected);
      expect(app.output()).not.toContain(`handled ${id} `);
    });

    test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
      'the method %s is answered with 405 and Allow',
      async (method) => {
        const answer = await send({ method, body: Buffer.from(''), headers: [] });
        expect(answer).toEqual(method === 'HEAD' ? { ...NOT_POST, body: '' } : NOT_POST);
      },
    );

    test('a secret function gets the path, the query and the headers', async () => {
      const path = '/webhooks?shop=a%26b&shop=c';
      expect(await post(path, freshId())).toEqual(HANDLED);
      await written(`asked ${under(path)} with application/json`);
    });

    test('one of many simultaneous copies is handled', async () => {
      const id = freshId();
      const copies = Array.from({ length: 8 }, () => post('/webhooks', id, 'test:slow'));
      await written(`begun ${id}.`);
      expect(await post('/webhooks', freshId(), 'test:release')).toEqual(HANDLED);
      const outcomes = await Promise.all(copies);
      expect(outcomes.filter(({ body }) => body === HANDLED.body)).toHaveLength(1);
      expect(outcomes.filter(({ body }) => body !== HANDLED.body)).toEqual(
        Array(7).fill(DUPLICATE),
      );
      expect(app.output().split(`begun ${id}.`)).toHaveLength(2);
    });

    test('a delivery whose handler failed is handled by its retry, and not again', async () => {
      const id = freshId();
      expect(await post('/webhooks', id, 'test:flaky')).toEqual(FAILED);
      expect(await post('/webhooks', id, 'test:flaky')).toEqual(HANDLED);
      expect(await post('/webhooks', id, 'test:flaky')).toEqual(DUPLICATE);
    });

    test('the answer is 503 with Retry-After while the store is down', async () => {
      expect(await down).toEqual(DOWN);
    });

    test.each([
      ['text', 'text/plain; charset=utf-8'],
      ['bytes', 'application/octet-stream'],
    ])('goods that are %s are in the answer, and the same for each call', async (id, type) => {
      const order = Buffer.from(JSON.stringify({ id: `${id} of ${freshId()}`, status: 100 }));
      const ask = () => send({ path: '/goods', body: order, headers: webhook(order, freshId()) });
      const [first, ...others] = [...(await Promise.all([ask(), ask()])), await ask()];
      expect(first?.status).toBe(200);
      expect(first?.headers).toEqual({ 'content-type': type, 'cache-control': 'no-store' });
      expect(others).toEqual([first, first]);
      const bytes = [...Buffer.from(first?.body ?? '', 'latin1')];
      const [, made = 0] = bytes;
      const expected =
        id === 'text'
          ? Buffer.from(/^KEY-\d+/.exec(first?.body ?? '') + GOODS_END)
          : Uint8Array.from({ length: 1_000 }, (_, index) => index * made);
      expect(bytes).toEqual([...expected]);
    });

    test('the first request creates the receiver, and a later one does so again after a failure', async () => {
      expect(app.output()).not.toContain('made 1');
      expect(await post('/lazy', freshId())).toEqual(FAILED_EARLY);
      expect(await post('/lazy', freshId())).toEqual(HANDLED);
      expect(await post('/lazy', freshId())).toEqual(HANDLED);
      await written('made 2');
      expect(app.output()).not.toContain('made 3');
    });

    test('the error names the line to change if the body was parsed before', async () => {
      expect(await post('/parsed', freshId())).toEqual(FAILED_EARLY);
      await written(parsed);
    });

    test('the bodies of other routes are left to the framework', async () => {
      const response = await fetch(`${app.origin}/echo`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"a":[1,2]}',
      });
      expect(await response.json()).toEqual({ a: [1, 2] });
    });

    if (!buffers) {
      test.each(['end', 'close', 'reset'] as const)(
        'a sender that disconnects during its body runs no handler (%s)',
        async (leave) => {
          const id = freshId();
          const connection = await connect();
          const headers = [...webhook(order, id), ['Content-Length', order.length]] as const;
          await connection.send(
            head(headers, { path: under('/webhooks') }),
            order.subarray(0, 500),
          );
          connection[leave]();
          await connection.closed();
          expect(await post('/webhooks', freshId())).toEqual(HANDLED);
          expect(app.output()).not.toContain(`handled ${id} `);
        },
      );
    }

    if (!holdsBack) {
      test('a sender that does not finish its body is cut off', async () => {
        const late = answered(408, 'rejected', 'The body did not arrive in time.');
        const answer = await unfinished?.answer();
        expect(answer && seen(answer)).toEqual(late);
      });
    }
  });
}
