import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  Server,
  type ServerResponse,
} from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { createReceiver, memoryStore, type Receiver, type WebhookEvent } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import {
  type Fixture,
  loadFixture,
  type ReplayManyOptions,
  type ReplayTarget,
  replay,
  type Signing,
  sign,
} from 'storefront-webhooks/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';

const secret = 'a secret for tests';
const paid = loadFixture('order:paid');

type Event = WebhookEvent<string, unknown>;

function makeReceiver(handler: (event: Event) => unknown = () => {}) {
  return createReceiver({ secret, store: memoryStore(), hooks: { onRejected() {} } })
    .on('*', handler)
    .onUnknown(handler);
}

function toFetchHandler(receiver: Receiver) {
  return async (request: Request): Promise<Response> => {
    const { status, headers, body } = await receiver.receive({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: async () => new Uint8Array(await request.arrayBuffer()),
    });
    return new Response(body, { status, headers });
  };
}

function toNodeHandler(receiver: Receiver) {
  const handle = toExpress(receiver);
  return (request: IncomingMessage, response: ServerResponse) =>
    handle(request, response, (error) => response.destroy(new Error(String(error))));
}

/** A Node handler that is not a receiver, and records its requests. */
function makeRecorder() {
  const seen: {
    url: string | undefined;
    headers: [string, string][];
    body: Buffer;
    pieces: number;
  }[] = [];
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { url, rawHeaders } = request;
      const headers = rawHeaders.flatMap((name, i): [string, string][] =>
        i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? '']] : [],
      );
      seen.push({ url, headers, body: Buffer.concat(pieces), pieces: pieces.length });
      response.setHeader('set-cookie', ['a=1', 'b=2']).writeHead(202).end('thanks');
    });
  };
  return { seen, handler };
}

const toClose: { close(): unknown }[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const server of toClose.splice(0)) server.close();
});

async function listen(handler: RequestListener, host = '127.0.0.1') {
  const server = createServer(handler);
  toClose.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { server, origin: `http://${host}:${port}` };
}

// Every kind of target that a receiver can be.
const TARGETS: [string, (receiver: Receiver) => ReplayTarget | Promise<ReplayTarget>][] = [
  ['a receiver', (receiver) => receiver],
  ['an address', async (receiver) => `${(await listen(toNodeHandler(receiver))).origin}/webhooks`],
  ['a URL', async (receiver) => new URL((await listen(toNodeHandler(receiver))).origin)],
  ['a server that listens', async (receiver) => (await listen(toNodeHandler(receiver))).server],
  ['a server that does not listen', (receiver) => createServer(toNodeHandler(receiver))],
  ['an Express application', (receiver) => express().post('/webhooks', toExpress(receiver))],
  ['a Node handler', toNodeHandler],
  ['a fetch handler', toFetchHandler],
  ['an object with a fetch handler', (receiver) => ({ fetch: toFetchHandler(receiver) })],
  [
    'an application with a callback, as Koa',
    (receiver) => ({ callback: () => toNodeHandler(receiver) }),
  ],
  [
    'an application that gets ready, as Fastify',
    (receiver) => {
      const server = createServer();
      const ready = async () => server.on('request', toNodeHandler(receiver));
      return { ready, server };
    },
  ],
];

describe.each(TARGETS)('replayed to %s', (name, toTarget) => {
  test('a delivery arrives byte for byte, and is answered', async () => {
    const handler = vi.fn<(event: Event) => void>();
    const target = await toTarget(makeReceiver(handler));
    const result = await replay(target, 'order:paid/crlf', { secret, id: 'whl_9' });
    expect(result).toMatchObject({ status: 200, outcome: 'handled', asExpected: true });
    expect(result.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' });
    expect(JSON.parse(result.body)).toMatchObject({ outcome: 'handled' });
    expect(result.ran).toEqual(name === 'a receiver' ? ['*'] : undefined);
    const { fixture } = result;
    expect(handler).toHaveBeenCalledOnce();
    const [event] = handler.mock.calls[0] ?? [];
    expect(event).toMatchObject({ id: 'whl_9', event: 'order:paid' });
    expect(Buffer.compare(event?.rawBody ?? Buffer.of(), fixture.body)).toBe(0);
  });

  test('a repeated header arrives twice', async () => {
    const target = await toTarget(makeReceiver());
    const { fixture, ...result } = await replay(target, 'hostile/two-events', { secret });
    expect(fixture.headers.filter(([name]) => name === 'X-Service-Event')).toHaveLength(2);
    expect(result).toMatchObject({ status: 400, outcome: 'rejected', asExpected: true });
  });

  test('a forged delivery is rejected', async () => {
    const target = await toTarget(makeReceiver());
    const result = await replay(target, 'order:paid', { secret: 'another secret' });
    expect(result).toMatchObject({ status: 401, outcome: 'rejected', asExpected: false });
  });

  test('a queued answer counts as expected if the handlers would have handled it', async () => {
    const enqueue = async () => ({ id: '1' });
    const receiver = createReceiver({ secret: 'a', queue: { durable: true, enqueue } });
    const result = await replay(receiver, 'order:paid');
    expect(result).toMatchObject({ status: 200, outcome: 'queued', asExpected: true });
  });
});

describe('a target', () => {
  test('that does not listen is not left listening', async () => {
    const server = createServer(toNodeHandler(makeReceiver()));
    await replay(server, 'order:paid', { secret });
    expect(server.listening).toBe(false);
    expect(server.listenerCount('error')).toBe(0);
    expect((await replay(server, 'order:paid', { secret })).outcome).toBe('duplicate');
  });

  test('that listens keeps listening', async () => {
    const { server, origin } = await listen(toNodeHandler(makeReceiver()));
    await replay(server, 'order:paid', { secret });
    expect(server.listening).toBe(true);
    expect((await replay(origin, 'order:paid', { secret })).outcome).toBe('duplicate');
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === '::1'),
  );
  test.skipIf(!hasIpv6)(
    'that listens on an address other than 127.0.0.1 is sent to there',
    async () => {
      const { server } = await listen(toNodeHandler(makeReceiver()), '::1');
      expect((await replay(server, 'order:paid', { secret })).outcome).toBe('handled');
    },
  );

  test('that is not a receiver returns its answer unchanged', async () => {
    const { status, headers, body, outcome, ran, asExpected } = await replay(
      makeRecorder().handler,
      'order:paid',
      { secret },
    );
    expect({ status, body, outcome, ran, asExpected }).toEqual({
      status: 202,
      body: 'thanks',
      outcome: undefined,
      ran: undefined,
      asExpected: false,
    });
    expect(headers['set-cookie']).toBe('a=1, b=2');
  });

  test('that is an application is served only while deliveries are sent', async () => {
    const listening = vi.spyOn(Server.prototype, 'listen');
    const closed = vi.spyOn(Server.prototype, 'close');
    const isListening = (server: unknown) => server instanceof Server && server.listening;
    await replay(toNodeHandler(makeReceiver()), 'order:paid', { secret });
    const breaking = (request: IncomingMessage, _: ServerResponse) => request.socket.destroy();
    await expect(replay(breaking, 'order:paid', { secret })).rejects.toMatchObject({
      code: 'response_invalid',
      cause: { code: expect.stringMatching(/^(ECONNRESET|EPIPE)$/) },
    });
    expect(closed.mock.contexts).toEqual(listening.mock.contexts);
    expect(closed).toHaveBeenCalledTimes(2);
    expect(closed.mock.contexts.map(isListening)).toEqual([false, false]);
  });

  test('that is not a receiver needs a secret, which the error explains', async () => {
    const { handler } = makeRecorder();
    const targets = [
      'http://127.0.0.1:1',
      new URL('http://127.0.0.1:1'),
      createServer(),
      handler,
      express(),
    ];
    for (const target of targets) {
      await expect(replay(target, 'order:paid')).rejects.toMatchObject({
        name: 'UsageError',
        code: 'option_invalid',
        message: expect.stringContaining('replay(target, fixture, { secret })'),
      });
    }
  });

  test.each([{}, { fetsh() {} }, null, undefined, 7])(
    'that is not valid, such as %o, is rejected',
    async (target) => {
      await expect(
        Reflect.apply(replay, undefined, [target, 'order:paid', { secret }]),
      ).rejects.toMatchObject({ name: 'UsageError', code: 'target_invalid' });
    },
  );
});

describe('the option', () => {
  /** Returns the request that a server gets with these options. */
  async function sent(options: Parameters<typeof replay>[2], fixture: Fixture | string = paid) {
    const { seen, handler } = makeRecorder();
    await replay(handler, [fixture].flat(), { secret, ...options });
    return seen.map(({ headers, ...rest }) => {
      const all = (wanted: string) =>
        headers.flatMap(([name, value]) => (name === wanted ? [value] : []));
      return { ...rest, headers, all };
    });
  }

  test('secret signs the delivery, as a text or a list', async () => {
    for (const key of ['another', Uint8Array.of(1, 2, 3)]) {
      const [request] = await sent({ secret: key });
      expect(request?.all('X-Service-Signature')).toEqual([sign(paid.body, key)]);
    }
  });

  test('secret may be omitted for a receiver, which signs with its own', async () => {
    const urls: unknown[] = [];
    const receiver = createReceiver({
      store: memoryStore(),
      secret: ({ url }) => {
        urls.push(url);
        return { secret: ['new', 'old'], scope: 'shop' };
      },
    }).on('*', () => {});
    const { outcome } = await replay(receiver, 'order:paid', { path: '/shops/1' });
    expect(outcome).toBe('handled');
    expect(new Set(urls)).toEqual(new Set(['/shops/1']));
  });

  test("secret may be omitted for a receiver that finds the shop by the fixture's headers", async () => {
    const headers: Fixture['headers'] = [...paid.headers, ['X-Shop', 'eu']];
    const onRejected = vi.fn();
    const receiver = createReceiver({
      ...{ store: memoryStore(), hooks: { onRejected }, headerPrefix: 'X-Brand-' },
      secret: ({ method, headers }) =>
        method === 'POST' && 'x-brand-event' in headers && 'x-shop' in headers
          ? { secret, scope: String(headers['x-shop']).toLowerCase() }
          : null,
    }).on('*', () => {});
    expect(await replay(receiver, { ...paid, headers })).toMatchObject({ outcome: 'handled' });
    expect(await replay(receiver, paid)).toMatchObject({ status: 401 });
    expect(onRejected).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ detail: expect.stringContaining('knows no shop') }),
    );
  });

  test('headerPrefix replaces X-Service- in the headers of the fixture and of the replay', async () => {
    const headers: Fixture['headers'] = [...paid.headers, ['x-service-other', 'a']];
    const options = { headerPrefix: 'X-Shop-', id: 'whl_1' };
    const [request] = await sent(options, { ...paid, headers });
    const names = request?.headers.map(([name]) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'X-Shop-Event',
        'X-Shop-Webhook',
        'X-Shop-Signature',
        'X-Shop-other',
      ]),
    );
    expect(names).not.toContainEqual(expect.stringMatching(/^X-Service-/i));
    const receiver = createReceiver({ secret, store: memoryStore(), headerPrefix: 'X-Shop-' });
    receiver.on('*', () => {});
    expect(await replay(receiver, paid, { headerPrefix: 'X-Shop-' })).toMatchObject({
      status: 200,
    });
  });

  test("headerPrefix is the receiver's own by default", async () => {
    const receiver = createReceiver({ secret, store: memoryStore(), headerPrefix: 'X-Shop-' });
    receiver.on('*', () => {});
    expect(await replay(receiver, paid)).toMatchObject({ status: 200 });
  });

  test('headerPrefix also replaces the prefix of a recording, and of its variants', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
    const save = (name: string, content: object) => {
      const file = join(folder, `${name}.hook.json`);
      writeFileSync(file, JSON.stringify(content));
      return loadFixture(file);
    };
    const recorded = save('recorded', {
      v: 1,
      event: 'order:paid',
      headers: [
        ['X-Brand-Event', 'order:paid'],
        ['X-Brand-Webhook', 'whl_1'],
        ['X-Brand-Signature', ''],
      ],
      body: { text: Buffer.from(paid.body).toString() },
    });
    const about = { v: 1, extends: './recorded.hook.json', event: 'order:updated' };
    const variant = save('variant', { ...about, merge: { status: 56 } });
    rmSync(folder, { recursive: true });
    for (const headerPrefix of ['X-Brand-', 'X-Service-', 'X-Shop-']) {
      for (const fixture of [recorded, variant]) {
        const receiver = createReceiver({ secret, store: memoryStore(), headerPrefix });
        receiver.on('*', () => {});
        expect((await replay(receiver, fixture)).body).toContain('"outcome":"handled"');
      }
      const [request] = await sent({ headerPrefix }, variant);
      expect(request?.all(`${headerPrefix}Event`)).toEqual(['order:updated']);
      expect(request?.all(`${headerPrefix}Webhook`)).toEqual(['whl_1']);
      expect(request?.all(`${headerPrefix}Signature`)).toEqual([sign(variant.body, secret)]);
    }
  });

  test("headerPrefix is the fixture's own for a target that is not a receiver", async () => {
    const kept = 'ab'.repeat(64);
    const headers: Fixture['headers'] = [
      ['X-Brand-Event', 'order:paid'],
      ['X-Brand-Signature', kept],
    ];
    const [resigned] = await sent({}, { ...paid, headers });
    expect(resigned?.all('X-Brand-Signature')).toEqual([sign(paid.body, secret)]);
    const [same] = await sent({}, { ...paid, headers, signing: 'keep' });
    expect(same?.all('X-Brand-Signature')).toEqual([kept]);
    for (const request of [resigned, same]) {
      const names = request?.headers.map(([name]) => name);
      expect(names).not.toContainEqual(expect.stringMatching(/^X-Service-/i));
    }
  });

  test('with a misspelled name is rejected', async () => {
    const misspelled = { pth: '/hooks', secret };
    await expect(replay(() => new Response(), paid, misspelled)).rejects.toMatchObject({
      code: 'option_invalid',
      message: expect.stringMatching(/pth.*"path"/),
    });
  });

  test('path is the path of an application, by default /webhooks', async () => {
    expect((await sent({}))[0]?.url).toBe('/webhooks');
    expect((await sent({ path: '/shop/hooks?a=1' }))[0]?.url).toBe('/shop/hooks?a=1');
    const fetch = vi.fn((_: Request) => new Response());
    await replay({ fetch }, paid, { secret, path: '/hooks' });
    expect(new URL(fetch.mock.calls[0]?.[0].url ?? '').pathname).toBe('/hooks');
  });

  test('path is rejected for an address, which has its own', async () => {
    const { seen, handler } = makeRecorder();
    const { origin } = await listen(handler);
    await replay(`${origin}/there`, paid, { secret, path: '/elsewhere' });
    expect(seen.map(({ url }) => url)).toEqual(['/there']);
  });

  test('event replaces the event, and signs the same body', async () => {
    const [request] = await sent({ event: 'order:forged' });
    expect(request?.all('X-Service-Event')).toEqual(['order:forged']);
    expect(request?.all('X-Service-Signature')).toEqual([sign(paid.body, secret)]);
  });

  test('id sets the id of the delivery', async () => {
    const [request] = await sent({ id: 'whl_9' });
    expect(request?.all('X-Service-Webhook')).toEqual(['whl_9']);
  });

  test("id: 'fresh' gives each delivery a new id", async () => {
    const requests = await sent({ id: 'fresh', duplicate: 3 });
    const ids = requests.flatMap(({ all }) => all('X-Service-Webhook'));
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain('fresh');
    expect(ids).not.toContain('whl_0001');
  });

  test('corrupt changes one bit of the signed body', async () => {
    const [request] = await sent({ corrupt: true });
    const changes = [...(request?.body ?? [])].map((byte, i) => byte ^ (paid.body[i] ?? 0));
    expect(request?.body).toHaveLength(paid.body.length);
    expect(changes.filter((change) => change !== 0)).toEqual([1]);
    expect(request?.all('X-Service-Signature')).toEqual([sign(paid.body, secret)]);
    expect(await replay(makeReceiver(), paid, { corrupt: true })).toMatchObject({ status: 401 });
    expect(Buffer.compare(paid.body, loadFixture('order:paid').body)).toBe(0);
  });

  test('chunks sends the body in pieces', async () => {
    const [whole] = await sent({});
    const [split] = await sent({ chunks: 50 });
    const [tiny] = await sent({ chunks: Number.POSITIVE_INFINITY });
    expect(whole?.pieces).toBe(1);
    expect(split?.pieces).toBeGreaterThan(1);
    for (const request of [whole, split, tiny]) {
      expect(Buffer.compare(request?.body ?? Buffer.of(), paid.body)).toBe(0);
      expect(request?.all('Content-Length')).toEqual([String(paid.body.length)]);
    }
  });

  test('the length in a fixture is sent once, however its header is spelled', async () => {
    const length = ['CONTENT-Length', String(paid.body.length)] as const;
    const [request] = await sent({}, { ...paid, headers: [...paid.headers, length] });
    const lengths = request?.headers.filter(([name]) => /^content-length$/i.test(name));
    expect(lengths).toEqual([length]);
  });

  test('duplicate sends each delivery several times', async () => {
    const handler = vi.fn();
    const names = ['order:paid', 'order:created'];
    const results = await replay(makeReceiver(handler), names, { duplicate: 3 });
    expect(results.map(({ fixture, outcome }) => [fixture.event, outcome])).toEqual([
      ['order:paid', 'handled'],
      ['order:paid', 'duplicate'],
      ['order:paid', 'duplicate'],
      ['order:created', 'handled'],
      ['order:created', 'duplicate'],
      ['order:created', 'duplicate'],
    ]);
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test('duplicate returns a list, even for one', async () => {
    expect(await replay(makeReceiver(), 'order:paid', { duplicate: 1 })).toMatchObject([
      { outcome: 'handled' },
    ]);
  });

  test.each([{ concurrency: 2 }, { shuffle: 1 }])(
    '%o returns a list, as its type declares',
    async (options) => {
      expect(await replay(makeReceiver(), 'order:paid', options)).toMatchObject([
        { outcome: 'handled' },
      ]);
    },
  );

  test.each([0, -1, 1.5, Number.NaN])('duplicate or concurrency cannot be %d', async (count) => {
    const handler = vi.fn();
    for (const name of ['duplicate', 'concurrency']) {
      const replayed = replay(makeReceiver(handler), ['order:paid'], { [name]: count });
      await expect(replayed).rejects.toMatchObject({
        code: 'option_invalid',
        message: expect.stringContaining(name),
      });
    }
    expect(handler).not.toHaveBeenCalled();
  });

  describe('shuffle', () => {
    const names = [
      'order:paid',
      'order:created',
      'order:updated',
      'query:created',
      'query:replied',
      'query:updated',
    ];
    const orderOf = async (shuffle: boolean | number) => {
      const arrived: string[] = [];
      const receiver = makeReceiver(({ event }) => arrived.push(event));
      const results = await replay(receiver, names, { shuffle });
      expect(results.map(({ fixture }) => fixture.event)).toEqual(arrived);
      expect([...arrived].sort()).toEqual([...names].sort());
      return arrived;
    };

    test('sends in the same order for the same number', async () => {
      expect(await orderOf(1)).toEqual(await orderOf(1));
      expect(await orderOf(1)).not.toEqual(names);
      expect(await orderOf(2)).not.toEqual(await orderOf(1));
      expect(await orderOf(0)).not.toEqual(names);
    });

    test('sends in a random order for true, and in the given order for false', async () => {
      const random = vi.spyOn(Math, 'random').mockReturnValue(0.25);
      expect(await orderOf(true)).toEqual(await orderOf(2 ** 30));
      expect(random).toHaveBeenCalled();
      expect(await orderOf(false)).toEqual(names);
    });
  });

  test('concurrency limits the number of simultaneous deliveries', async () => {
    let running = 0;
    let most = 0;
    let release: (() => void)[] = [];
    const receiver = makeReceiver(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => {
        release.push(resolve);
        if (release.length < 3) return;
        for (const go of release) go();
        release = [];
      });
      running -= 1;
    });
    const options = { id: 'fresh', duplicate: 9, concurrency: 3 };
    const results = await replay(receiver, 'order:paid', options);
    expect(results.map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 9 }, () => 'handled'),
    );
    expect(most).toBe(3);
  });

  test('concurrency is one by default', async () => {
    let running = 0;
    const receiver = makeReceiver(async () => {
      running += 1;
      await new Promise((resolve) => setImmediate(resolve));
      expect(running).toBe(1);
      running -= 1;
    });
    const results = await replay(receiver, ['order:paid', 'order:created', 'query:created']);
    expect(results.every(({ outcome }) => outcome === 'handled')).toBe(true);
  });

  test('loseResponse sends the same request again, and returns the second answer', async () => {
    const handler = vi.fn();
    const options = { loseResponse: true, id: 'fresh' };
    expect(await replay(makeReceiver(handler), paid, options)).toMatchObject({
      outcome: 'duplicate',
      ran: [],
    });
    expect(handler).toHaveBeenCalledOnce();
    const [first, second, ...others] = await sent(options);
    expect(others).toEqual([]);
    expect(second?.headers).toEqual(first?.headers);
    expect(second?.body).toEqual(first?.body);
  });
});

describe('a fixture', () => {
  const kept: Fixture = {
    ...paid,
    headers: [...paid.headers, ['x-service-signature', 'f'.repeat(128)]],
  };

  test.each<[Signing, RegExp[], number]>([
    ['keep', [/^f{128}$/], 401],
    ['omit', [], 401],
    ['resign', [new RegExp(`^${sign(paid.body, secret)}$`)], 200],
    ['corrupt', [new RegExp(`^[01]${sign(paid.body, secret).slice(1)}$`)], 401],
  ])('with the signing "%s" is signed accordingly', async (signing, signatures, status) => {
    const { seen, handler } = makeRecorder();
    await replay(handler, { ...kept, signing }, { secret });
    const given = seen[0]?.headers.filter(([name]) => name.toLowerCase() === 'x-service-signature');
    expect(given?.map(([, value]) => value)).toEqual(
      signatures.map((one) => expect.stringMatching(one)),
    );
    expect(await replay(makeReceiver(), { ...kept, signing })).toMatchObject({ status });
  });

  test('keeps the place and the spelling of a header that is signed again', async () => {
    const headers: Fixture['headers'] = [['x-service-signature', 'old'], ...paid.headers];
    const { seen, handler } = makeRecorder();
    await replay(handler, { ...paid, headers }, { secret });
    const names = seen[0]?.headers.map(([name]) => name);
    expect(names?.slice(-headers.length)).toEqual(headers.map(([name]) => name));
  });

  test('keeps its method', async () => {
    const put = { ...paid, method: 'PUT' };
    for (const target of [
      makeReceiver(),
      toNodeHandler(makeReceiver()),
      toFetchHandler(makeReceiver()),
    ]) {
      expect(await replay(target, put, { secret })).toMatchObject({
        status: 405,
        headers: { allow: 'POST' },
      });
    }
  });

  test.each(['GET', 'DELETE'])(
    'with the method %s gets the answer of the receiver',
    async (method) => {
      const fixture = { ...paid, method };
      for (const target of [
        makeReceiver(),
        toNodeHandler(makeReceiver()),
        toFetchHandler(makeReceiver()),
      ]) {
        expect(await replay(target, fixture, { secret })).toMatchObject({ status: 405 });
      }
    },
  );

  test('that does not exist is rejected before anything is sent', async () => {
    const handler = vi.fn();
    await expect(replay(makeReceiver(handler), ['order:paid', 'order:piad'])).rejects.toMatchObject(
      {
        code: 'fixture_invalid',
      },
    );
    expect(handler).not.toHaveBeenCalled();
  });

  test.each<[unknown]>([
    [undefined],
    [null],
    [7],
    [{}],
    [{ id: 'ord_1' }],
    [[['order:paid']]],
    [['order:paid', undefined]],
  ])('that is none, such as %j, is rejected before anything is sent', async (fixture) => {
    const handler = vi.fn();
    await expect(
      Reflect.apply(replay, undefined, [makeReceiver(handler), fixture]),
    ).rejects.toMatchObject({
      name: 'UsageError',
      code: 'fixture_invalid',
      message: expect.stringMatching(
        /^replay\(\) needs one fixture, or the name of one such as 'order:paid', or an array of them as its second argument, not /,
      ),
    });
    expect(handler).not.toHaveBeenCalled();
  });
});

describe('a result', () => {
  test('names the handlers that finished', async () => {
    const receiver = createReceiver({ secret, store: memoryStore(), hooks: { onError() {} } })
      .on('order:paid', () => {})
      .on('order:*', () => Promise.reject(new Error('down')))
      .on('*', () => {});
    const { ran, outcome } = await replay(receiver, 'order:paid');
    expect(outcome).toBe('failed');
    expect([...(ran ?? [])].sort()).toEqual(['*', 'order:paid']);
  });

  test('has the duration until the answer', async () => {
    let inside = 0;
    const receiver = makeReceiver(async () => {
      const startedAt = performance.now();
      while (inside < 5) {
        await new Promise((resolve) => setImmediate(resolve));
        inside = performance.now() - startedAt;
      }
    });
    const startedAt = performance.now();
    const { durationMs } = await replay(receiver, 'order:paid');
    expect(durationMs).toBeGreaterThanOrEqual(inside);
    expect(durationMs).toBeLessThanOrEqual(performance.now() - startedAt);
  });

  test('states whether the status and outcome are the expected ones', async () => {
    const expecting = async (expect: Fixture['expect']) =>
      (await replay(makeReceiver(), { ...paid, expect })).asExpected;
    expect(await expecting({ status: 200, outcome: 'handled' })).toBe(true);
    expect(await expecting({ status: 200, outcome: 'ignored' })).toBe(false);
    expect(await expecting({ status: 201, outcome: 'handled' })).toBe(false);
    expect(await expecting(undefined)).toBeUndefined();
  });

  test('of a copy may be `duplicate`, but not of a first delivery', async () => {
    const receiver = makeReceiver();
    const answers = async (options: ReplayManyOptions, fixtures: (Fixture | string)[] = [paid]) =>
      (await replay(receiver, fixtures, options)).map((one) => [one.outcome, one.asExpected]);
    const [first, again] = [
      ['handled', true],
      ['duplicate', true],
    ];
    expect(await answers({ duplicate: 2 })).toEqual([first, again]);
    expect(await answers({ duplicate: 2 })).toEqual([['duplicate', false], again]);
    expect(await answers({ duplicate: 2, id: 'fresh' })).toEqual([first, first]);
    expect(await answers({ id: 'whl_lost', loseResponse: true })).toEqual([again]);
    const ignored: Fixture = { ...paid, expect: { status: 200, outcome: 'ignored' } };
    expect(await answers({ id: 'whl_lost' }, [paid, ignored])).toEqual([
      ['duplicate', false],
      ['duplicate', false],
    ]);
  });

  test('of a list has the position of its delivery', async () => {
    const waiting: (() => void)[] = [];
    const receiver = makeReceiver(
      () =>
        new Promise<void>((resolve) => {
          waiting.push(resolve);
          // Answer the requests in the reverse order of their arrival.
          if (waiting.length === 3) for (const go of waiting.reverse()) go();
        }),
    );
    const names = ['order:paid', 'query:created', 'order:created'];
    const results = await replay(receiver, names, { concurrency: 3 });
    expect(results.map(({ fixture }) => fixture.event)).toEqual(names);
    expect(await replay(receiver, [])).toEqual([]);
  });
});
