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

/** An application under the contract, wherever it runs. */
export interface Mounted {
  /** Where its paths begin. */
  readonly origin: string;
  /** What its receivers have written. */
  output(): string;
  stop(): Promise<void>;
}

const order = orderOf(1_000);

interface Differences {
  /** What it runs on, as it says itself. */
  readonly runtime?: RegExp;
  /** Says how to change the line, where the framework has read the body before. */
  readonly parsed?: RegExp | 'cannot happen';
  /** Whether the platform hands over a body only when it is whole. */
  readonly buffers?: boolean;
  /** Whether the platform holds an answer back until it has the whole body. */
  readonly holdsBack?: boolean;
  /** Whether the platform sends every answer in chunks, whatever length it states. */
  readonly chunks?: boolean;
}

/** What every adapter does, byte for byte, so that a seller can move from one framework to another. */
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

    // What takes a while: the other tests run while it is waited for.
    let unfinished: Connection | undefined;
    let patient: Connection | undefined;
    let down: Promise<Seen>;

    beforeAll(async () => {
      app = await mount();
      patient = await open();
      const id = freshId();
      down = send({ path: '/down', body: order, headers: webhook(order, id) }, patient);
      // The test that looks at it says so.
      down.catch(() => {});
      if (holdsBack) return;
      unfinished = await open();
      const headers = [...webhook(order, freshId()), ['Content-Length', order.length]] as const;
      await unfinished.send(head(headers, { path: under('/down') }), order.subarray(0, 500));
    }, 120_000);
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

    /** Waits for a line, which may come later than the answer. */
    async function written(text: string | RegExp): Promise<void> {
      const isThere = () =>
        text instanceof RegExp ? text.test(app.output()) : app.output().includes(text);
      await vi.waitUntil(isThere, 10_000);
    }

    function freshId(): string {
      sent += 1;
      return `whl_${name.replaceAll(/\W/g, '_')}_${sent}`;
    }

    async function send({ path = '/webhooks', ...request }: Sent, own?: Connection): Promise<Seen> {
      const connection = own ?? (await connect());
      // What is refused early is answered, and its connection closed, before all of it has left.
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

    test.each(shippedFixtures())('answers %s as it expects', async (fixture) => {
      const url = `${app.origin}/${fixture.startsWith('goods/') ? 'goods' : 'webhooks'}`;
      if (fixture === 'order:paid/duplicate') await replay(url, 'order:paid', { secret: SECRET });
      // By itself, it is the second try of a delivery that has been handled by now.
      const retried = fixture === 'query:replied/retry' && { id: freshId() };
      const { status, outcome } = await replay(url, fixture, { secret: SECRET, ...retried });
      expect({ status, outcome }).toEqual(loadFixture(fixture).expect);
    });

    test('runs where it is meant to, with the HMAC of RFC 4231', async () => {
      await written(runtime);
      await written('6 of 6 vectors hold');
    });

    test.each(GENUINE)('handles %s, byte for byte', async (_, text) => {
      const id = freshId();
      const body = Buffer.from(text);
      expect(await send({ body, headers: webhook(body, id) })).toEqual(HANDLED);
      await written(`handled ${id} of ${body.length} bytes.`);
    });

    test('handles a body that comes in chunks of any size', async () => {
      const id = freshId();
      const headers = webhook(order, id);
      expect(await send({ body: order, headers, chunkBytes: 7 })).toEqual(HANDLED);
      await written(`handled ${id} of ${order.length} bytes.`);
    });

    test('handles a body of exactly the limit, with its length declared or not', async () => {
      const body = orderOf(LIMIT);
      expect(await send({ body, headers: webhook(body, freshId()) })).toEqual(HANDLED);
      const chunkBytes = 10_000;
      expect(await send({ body, headers: webhook(body, freshId()), chunkBytes })).toEqual(HANDLED);
    });

    test.each(REFUSED)('refuses %s', async (_, request, expected) => {
      const id = freshId();
      expect(await send(request(id))).toEqual(expected);
      expect(app.output()).not.toContain(`handled ${id} `);
    });

    test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
      'answers %s with 405, and what is allowed',
      async (method) => {
        const answer = await send({ method, body: Buffer.from(''), headers: [] });
        expect(answer).toEqual(method === 'HEAD' ? { ...NOT_POST, body: '' } : NOT_POST);
      },
    );

    test('lets a secret depend on path and query', async () => {
      const path = '/webhooks?shop=a%26b&shop=c';
      expect(await post(path, freshId())).toEqual(HANDLED);
      await written(`asked ${under(path)}`);
    });

    test('handles one of many copies that come at once', async () => {
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

    test('handles a delivery again whose handler has failed, and then no more', async () => {
      const id = freshId();
      expect(await post('/webhooks', id, 'test:flaky')).toEqual(FAILED);
      expect(await post('/webhooks', id, 'test:flaky')).toEqual(HANDLED);
      expect(await post('/webhooks', id, 'test:flaky')).toEqual(DUPLICATE);
    });

    test('asks for patience where the store is down', async () => {
      expect(await down).toEqual(DOWN);
    });

    test.each([
      ['text', 'text/plain; charset=utf-8'],
      ['bytes', 'application/octet-stream'],
    ])('gives goods that are %s in the answer, and the same to each call', async (id, type) => {
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

    test('makes the receiver at the first request, and again where that has failed', async () => {
      expect(app.output()).not.toContain('made 1');
      expect(await post('/lazy', freshId())).toEqual(FAILED_EARLY);
      expect(await post('/lazy', freshId())).toEqual(HANDLED);
      expect(await post('/lazy', freshId())).toEqual(HANDLED);
      await written('made 2');
      expect(app.output()).not.toContain('made 3');
    });

    if (parsed !== 'cannot happen') {
      test('says which line to change where the body was parsed before', async () => {
        expect(await post('/parsed', freshId())).toEqual(FAILED_EARLY);
        await written(parsed);
      });
    }

    test('leaves the bodies of other routes to the framework', async () => {
      const response = await fetch(`${app.origin}/echo`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"a":[1,2]}',
      });
      expect(await response.json()).toEqual({ a: [1, 2] });
    });

    if (!buffers) {
      test.each(['end', 'close', 'reset'] as const)(
        'survives a sender that leaves in the middle (%s)',
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
      test('gives up a sender that does not finish', async () => {
        const late = answered(408, 'rejected', 'The body did not arrive in time.');
        const answer = await unfinished?.answer();
        expect(answer && seen(answer)).toEqual(late);
      });
    }
  });
}
