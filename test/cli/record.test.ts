import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { loadFixture, sign } from 'storefront-webhooks/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { chunk, LAST_CHUNK } from '../support/raw-http.js';
import { begin, type Running, run } from './command.js';

const secret = 'the secret of production';

let folder: string;
const running: { stop(): unknown }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  rmSync(folder, { recursive: true });
});

const saved = () => readdirSync(folder).sort();
const read = (file: string) => loadFixture(join(folder, file));

async function serve(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.push({ stop: () => server.close() && server.closeAllConnections() });
  const at = server.address();
  return `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}`;
}

/** Serves a receiver that verifies with the secret of production, or another one. */
function serveReceiver(with_ = secret): Promise<string> {
  const receiver = createReceiver({
    secret: with_,
    store: memoryStore(),
    hooks: { onRejected() {} },
  }).on('order:*', () => {});
  return serve(createServer(toNodeHandler(receiver)));
}

/** Starts a server that keeps the bytes of each request as they arrived, and answers. */
async function serveBytes(answer: string, end = /0\r\n\r\n$/) {
  let bytes = '';
  const { createServer: listen } = await import('node:net');
  const server = listen((socket) => {
    socket.on('error', () => {});
    socket.on('data', (piece) => {
      bytes += piece.toString('latin1');
      const [head = '', body = ''] = bytes.split(/\r\n\r\n(.*)/s);
      const length = /content-length: (\d+)/i.exec(head)?.[1];
      const isWhole = length === undefined ? end.test(body) : body.length === Number(length);
      if (isWhole) socket.end(answer, 'latin1');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.push({ stop: () => server.close() });
  const at = server.address();
  const port = typeof at === 'object' && at ? at.port : 0;
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, bytes: () => bytes };
}

async function record(url: string, ...flags: string[]) {
  return recordWith({ WEBHOOK_SECRET: secret }, url, ...flags);
}

async function recordWith(env: Record<string, string>, url: string, ...flags: string[]) {
  const recorder = begin(['record', url, '--out', folder, ...flags], { env });
  const [, origin = ''] = await recorder.says(/Send to (http:\/\/[\d.:]+)/);
  return Object.assign(recorder, { origin });
}

/** Sends bytes unchanged, and returns the bytes of the answer. */
function sendRaw(origin: string, ...pieces: (string | Uint8Array)[]): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (piece) => {
      answer += piece.toString('latin1');
    });
    socket.on('end', () => resolve(answer)).on('error', reject);
    socket.write(Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
  });
}

const order = (fields = '') =>
  `{"id":"ord_1","email":"jane@shop.test","value":10.0,"gateway":"a\\/b"${fields},"ip_address":"203.0.113.9","delivered":"KEY-1","status":100}`;

const deliver = (origin: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  fetch(`${origin}/webhooks`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Event': 'order:paid',
      'X-Service-Webhook': 'whl_1',
      'X-Service-Signature': sign(body, secret),
      ...headers,
    },
  });

/** Waits for a number of lines, because a delivery is reported after its answer was sent. */
const told = (recorder: Running, count: number) =>
  vi.waitFor(() => expect(lines(recorder.output())).toHaveLength(count));

const lines = (output: string) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

describe('storefront-webhooks record', () => {
  test('forwards and saves a delivery without the customer; replay sends it to a receiver with another secret', async () => {
    const recorder = await record(`${await serveReceiver()}/webhooks`);
    const body = order();
    expect((await deliver(recorder.origin, body)).status).toBe(200);
    // The provider retries, and a forger sends a delivery.
    expect(await (await deliver(recorder.origin, body)).json()).toMatchObject({
      outcome: 'duplicate',
    });
    const forged = { 'X-Service-Webhook': 'whl_2', 'X-Service-Signature': 'ab'.repeat(64) };
    expect((await deliver(recorder.origin, body, forged)).status).toBe(401);
    await told(recorder, 3);
    recorder.interrupt();
    expect((await recorder.ended).status).toBe(0);
    expect(recorder.output()).toContain('3 deliveries saved in ');
    expect(lines(recorder.output())).toMatchObject([
      { event: 'order:paid', subject: 'ord_1', signature: 'valid', status: 200, attempt: 1 },
      { outcome: 'duplicate', signature: 'valid', attempt: 2, good: true },
      { signature: 'wrong', status: 401, attempt: 1, good: false },
    ]);

    const clean = body
      .replace('jane@shop.test', 'buyer@example.com')
      .replace('203.0.113.9', '192.0.2.1')
      .replace('KEY-1', 'redacted');
    expect(saved()).toEqual([1, 2, 3].map((n) => `000${n}-order-paid.hook.json`));
    for (const file of saved()) {
      expect(Buffer.from(read(file).body).toString()).toBe(clean);
      expect(read(file).redacted).toEqual(['/email', '/ip_address', '/delivered']);
      const text = readFileSync(join(folder, file), 'utf8');
      for (const told of ['jane', '203.0.113', 'KEY-1', sign(body, secret), secret])
        expect(text).not.toContain(told);
    }
    expect(saved().map((file) => [read(file).signing, read(file).expect?.outcome])).toEqual([
      ['resign', 'handled'],
      ['resign', 'duplicate'],
      ['corrupt', 'rejected'],
    ]);
    expect(read('0003-order-paid.hook.json').description).toContain('Not verified');

    const again = await serveReceiver('the secret of a test');
    const { stdout } = await run(['replay', folder, again], {
      env: { WEBHOOK_SECRET: 'the secret of a test' },
    });
    expect(lines(stdout).map(({ outcome, good }) => [outcome, good])).toEqual([
      ['handled', true],
      ['duplicate', true],
      ['rejected', true],
    ]);
  });

  test('prints a command that reaches the same receiver: header prefix, secret, plain HTTP', async () => {
    const receiver = createReceiver({
      secret,
      headerPrefix: 'X-Selly-',
      hooks: { onRejected() {} },
    }).on('order:paid', () => {});
    const url = await serve(createServer(toNodeHandler(receiver)));
    const flags = ['--header-prefix', 'X-Selly-', '--secret-env', 'SHOP_SECRET', '--plain-http'];
    const env = { SHOP_SECRET: secret };
    const recorder = await recordWith(env, url, ...flags);
    const about = { 'X-Selly-Event': 'order:paid', 'X-Selly-Webhook': 'whl_1' };
    const send = (signature: string) =>
      fetch(recorder.origin, {
        method: 'POST',
        body: order(),
        headers: { ...about, 'X-Selly-Signature': signature },
      });
    expect((await send('ab'.repeat(64))).status).toBe(401);
    await told(recorder, 1);
    const [forged] = lines(recorder.output());
    expect(forged.repeat).toBe(
      ['npx storefront-webhooks replay', forged.file, url, ...flags].join(' '),
    );
    rmSync(forged.file);
    expect((await send(sign(order(), secret))).status).toBe(200);
    await told(recorder, 2);
    recorder.interrupt();
    await recorder.ended;
    const [, words = ''] = await recorder.says(/^Again: npx storefront-webhooks (.*)$/m);
    const again = await run(words.split(' '), { env });
    expect([again.status, again.records()]).toMatchObject([0, [{ status: 200, good: true }]]);
  });

  test('forwards the bytes unchanged in both directions: headers in order, in case and repeated', async () => {
    const answer =
      'HTTP/1.1 203 Odd Reason\r\nx-LOWER: 1\r\nSet-Cookie: a=1\r\nX-b: \xe9\r\nSet-Cookie: b=2\r\nContent-Length: 3\r\nConnection: close\r\n\r\n\x00\xff!';
    const target = await serveBytes(answer);
    const recorder = await record(target.url);
    const body = order();
    const headers = [
      'X-sErViCe-EvEnT: order:paid',
      'X-Twice: 1',
      'accept-ENCODING: gzip',
      'X-Twice: 2, 3',
      'x-service-signature: ab, cd',
      'X-Latin: caf\xe9',
      `content-LENGTH: ${body.length}`,
    ];
    const head = (host: string, more: readonly string[]) => [
      `POST /a//b?c=%2F&d HTTP/1.1`,
      headers[0],
      `hOSt: ${host}`,
      ...headers.slice(1),
      ...more,
    ];
    const came = await sendRaw(
      recorder.origin,
      Buffer.from(
        [...head('shop.test', ['Connection: close, X-Hop', 'X-Hop: 1']), '', body].join('\r\n'),
        'latin1',
      ),
    );
    expect(target.bytes()).toBe(
      [...head(target.host, ['Connection: close']), '', body].join('\r\n'),
    );
    expect(came.replace('Connection: close\r\n', '')).toBe(
      answer.replace('Connection: close\r\n', ''),
    );
    await told(recorder, 1);
    const { headers: kept, event } = read('0001-order-paid.hook.json');
    expect(event).toBe('order:paid');
    expect(kept.map(([name, value]) => `${name}: ${value}`)).toEqual([
      ...headers.slice(0, 4),
      'x-service-signature: ',
      headers[5],
    ]);
  });

  test.each([
    ['Content-Length: 43', 'content-length', 'GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding , x', '2\r\n{}\r\n0\r\n\r\n'],
    ['X-A: 1', 'host', ''],
  ])(
    'forwards one request as one request, even if its Connection header names %s',
    async (header, named, body) => {
      const asked: string[] = [];
      const target = await serve(
        createServer((request, response) => {
          asked.push(`${request.method} ${request.url} ${request.headers.host}`);
          request.resume().on('end', () => response.end('{}'));
        }),
      );
      const recorder = await record(target);
      const { host } = new URL(recorder.origin);
      const head = `GET /hook HTTP/1.1\r\nHost: ${host}\r\n${header}\r\nConnection: ${named}, close`;
      const answer = await sendRaw(recorder.origin, `${head}\r\n\r\n${body}`);
      expect([answer.slice(0, 15), asked]).toEqual([
        'HTTP/1.1 200 OK',
        [`GET /hook ${new URL(target).host}`],
      ]);
    },
  );

  test.each<[string, { method?: string; headers: Record<string, string> }]>([
    ['posts', { method: 'POST', headers: { origin: 'http://evil.example' } }],
    ['posts without an origin', { method: 'POST', headers: { origin: 'null' } }],
    ['reads', { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' } }],
    ['reads under its own name', { headers: { host: 'evil.example' } }],
  ])(
    'does not forward the request of a foreign page that %s',
    async (_, { method = 'GET', headers }) => {
      let passed = 0;
      const target = await serve(createServer((_request, response) => response.end(`${++passed}`)));
      const recorder = await record(target);
      const { host } = new URL(recorder.origin);
      const lines = Object.entries({
        host,
        connection: 'close',
        'content-length': '0',
        ...headers,
      });
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      for (let times = 0; times < 2; times++) {
        const answer = await sendRaw(recorder.origin, `${method} / HTTP/1.1\r\n${head}\r\n`);
        expect(answer).toMatch(/^HTTP\/1\.1 403 /);
      }
      expect([passed, saved()]).toEqual([0, []]);
      recorder.interrupt();
      const { stderr } = await recorder.ended;
      expect(stderr.match(/A request from a web page was rejected/g)).toHaveLength(1);
    },
  );

  test('prints the address to send to with the path and query of the target', async () => {
    const recorder = await record(`${await serveReceiver()}/webhooks?shop=eu&n=%20`);
    await recorder.says(/Send to http:\/\/127\.0\.0\.1:\d+\/webhooks\?shop=eu&n=%20: each/);
  });

  test('forwards a delivery from a tunnel', async () => {
    const target = await serveReceiver();
    const recorder = await record(target);
    const body = order();
    const head = `POST / HTTP/1.1\r\nHost: abc.tunnel.example\r\nX-Service-Event: order:paid\r\nX-Service-Signature: ${sign(body, secret)}\r\n`;
    const length = `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
    expect(await sendRaw(recorder.origin, head + length + body)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('forwards and saves a chunked body, and a body that a relay has compressed', async () => {
    const target = await serveBytes('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
    const recorder = await record(target.url);
    const body = Buffer.from(order());
    await sendRaw(
      recorder.origin,
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
      ...[chunk(body.subarray(0, 9)), chunk(body.subarray(9)), LAST_CHUNK],
    );
    await told(recorder, 1);
    expect(target.bytes()).toMatch(/Transfer-Encoding: chunked/);
    expect(target.bytes()).toContain(body.toString());
    expect(Buffer.from(read('0001-unknown.hook.json').body).toString()).toContain('"value":10.0');

    const packed = await serveBytes('HTTP/1.1 415 No\r\nContent-Length: 0\r\n\r\n');
    const other = await record(packed.url);
    const response = await deliver(other.origin, gzipSync(body), { 'Content-Encoding': 'gzip' });
    expect(response.status).toBe(415);
    await told(other, 1);
    expect(packed.bytes()).toContain(gzipSync(body).toString('latin1'));
    const fixture = read('0002-order-paid.hook.json');
    const text = gunzipSync(fixture.body).toString();
    expect(text).toContain('buyer@example.com');
    expect(fixture.expect).toEqual({ status: 415 });
  });

  test('forwards trailers in both directions', async () => {
    const answer =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: Back\r\n\r\n';
    const target = await serveBytes(answer, /X-SUM: there\r\n\r\n$/);
    const recorder = await record(target.url);
    const came = await sendRaw(
      recorder.origin,
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-SUM\r\nConnection: close\r\n\r\n',
      chunk(Buffer.from(order())),
      '0\r\nX-SUM: there\r\n\r\n',
    );
    expect(target.bytes()).toMatch(/\r\nTrailer: X-SUM\r\n[\s\S]*\r\n0\r\nX-SUM: there\r\n\r\n$/);
    expect(came).toMatch(/\r\nTrailer: X-Sum\r\n[\s\S]*\r\n0\r\nX-Sum: Back\r\n\r\n$/);
    await told(recorder, 1);
    expect(read('0001-unknown.hook.json').headers).toEqual([]);
  });

  test('keeps the delivery with --as-is, with its signature and only for this user, and warns about it', async () => {
    const recorder = await record(await serveReceiver(), '--as-is');
    const body = new Uint8Array([...Buffer.from(order()), 0xff, 0xfe]);
    await deliver(recorder.origin, order());
    await deliver(recorder.origin, body, { 'X-Service-Event': '../../x y' });
    await told(recorder, 2);
    expect(recorder.output()).toContain('Do not commit it');
    expect(saved()).toEqual(['0001-order-paid.hook.json', '0002-x-y.hook.json']);
    const [text, bytes] = saved().map(read);
    expect(Buffer.from(text?.body ?? []).toString()).toBe(order());
    expect([...(bytes?.body ?? [])]).toEqual([...body]);
    const headers = text?.headers.map(([name, value]) => `${name}: ${value}`.toLowerCase());
    expect(headers).toContain(`x-service-signature: ${sign(order(), secret)}`);
    expect(text?.signing).toBe('keep');
    expect(statSync(join(folder, '0001-order-paid.hook.json')).mode & 0o777).toBe(0o600);
  });

  test('does not save a body from which customer data cannot be removed, and reports it', async () => {
    const recorder = await record(await serveReceiver());
    expect((await deliver(recorder.origin, 'email=jane@shop.test')).status).toBe(400);
    await told(recorder, 1);
    expect(saved()).toEqual([]);
    expect(recorder.output()).toContain('Add --as-is to save it');
  });

  test('overwrites nothing, stops saving at --max, and rejects a body over --limit', async () => {
    writeFileSync(join(folder, '0007-mine.hook.json'), 'mine');
    const recorder = await record(await serveReceiver(), '--max', '2', '--limit', '500');
    for (let n = 0; n < 3; n++) expect((await deliver(recorder.origin, order())).status).toBe(200);
    await told(recorder, 3);
    expect(saved()).toEqual([
      '0007-mine.hook.json',
      '0008-order-paid.hook.json',
      '0009-order-paid.hook.json',
    ]);
    expect(readFileSync(join(folder, '0007-mine.hook.json'), 'utf8')).toBe('mine');
    expect((await deliver(recorder.origin, order(`,"x":"${'y'.repeat(500)}"`))).status).toBe(413);
    await vi.waitFor(() => expect(recorder.output()).toContain('raise --limit'));
    expect(recorder.output()).toMatch(/limit \(--max\)[\s\S]*raise --limit/);
  });

  test('saves each delivery, if two commands record into one folder', async () => {
    const url = await serveReceiver();
    const recorders = [await record(url), await record(url)];
    for (const recorder of recorders) {
      await deliver(recorder.origin, order());
      await deliver(recorder.origin, order());
      await told(recorder, 2);
    }
    expect(saved()).toEqual([1, 2, 3, 4].map((number) => `000${number}-order-paid.hook.json`));
  });

  test('shows the words of a page in one line, without markup and receipt', async () => {
    const page = '<html>\n  <pre>Cannot POST /</pre>\r\n</html>\n{"a":1,"receipt":"v1.x"}';
    const target = createServer((_, response) => response.writeHead(404).end(page));
    const recorder = await record(await serve(target));
    await deliver(recorder.origin, order());
    await told(recorder, 1);
    expect(lines(recorder.output())).toMatchObject([
      { status: 404, answer: 'Cannot POST / {"a":1}' },
    ]);
  });

  test('answers 502 while the target is down, saves the delivery, and prints the reason', async () => {
    const gone = createServer();
    const url = await serve(gone);
    await new Promise((resolve) => gone.close(resolve));
    const recorder = await record(url);
    expect((await deliver(recorder.origin, order())).status).toBe(502);
    await told(recorder, 1);
    expect(lines(recorder.output())).toMatchObject([
      { status: 0, good: false, cause: expect.stringContaining('ECONNREFUSED') },
    ]);
    expect(read('0001-order-paid.hook.json').expect).toBeUndefined();
  });

  test('ends a request that the target has not answered within --timeout', async () => {
    const closed = vi.fn();
    const target = createServer((request) => request.resume());
    target.on('connection', (socket) => socket.on('close', closed));
    const recorder = await record(await serve(target), '--timeout', '100');
    expect((await deliver(recorder.origin, order())).status).toBe(502);
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
    await told(recorder, 1);
    expect(lines(recorder.output())).toMatchObject([
      { status: 0, good: false, cause: expect.stringContaining('no answer within 100 ms') },
    ]);
    expect(saved()).toHaveLength(1);
  });

  test('if it is interrupted, ends soon although the target is silent, and saves what it has passed on', async () => {
    const asked = vi.fn();
    const closed = vi.fn();
    const target = createServer((request) => asked(request.resume()));
    target.on('connection', (socket) => socket.on('close', closed));
    const recorder = await record(await serve(target), '--timeout', '20000');
    const answer = deliver(recorder.origin, order()).catch(() => undefined);
    await vi.waitFor(() => expect(asked).toHaveBeenCalledOnce());
    recorder.interrupt();
    const { stderr, records } = await recorder.ended;
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
    await answer;
    expect(records()).toMatchObject([
      { status: 0, good: false, cause: expect.stringContaining('record was interrupted') },
    ]);
    expect(stderr).toContain('1 delivery saved in');
    expect(saved()).toHaveLength(1);
  });

  test('saves a delivery whose sender hangs up before the target answers', async () => {
    const target = createServer((request, response) => {
      request.resume();
      const answer = JSON.stringify({ outcome: 'handled', ran: ['x'.repeat(300_000)] });
      setTimeout(() => response.end(answer), 200);
    });
    const recorder = await record(await serve(target));
    const gone = AbortSignal.timeout(100);
    await expect(
      fetch(`${recorder.origin}/webhooks`, {
        ...{ method: 'POST', body: order(), signal: gone },
        headers: {
          'X-Service-Event': 'order:paid',
          'X-Service-Webhook': 'whl_1',
          'X-Service-Signature': sign(order(), secret),
        },
      }),
    ).rejects.toThrow();
    await told(recorder, 1);
    const [{ status, ms }] = lines(recorder.output());
    expect(status).toBe(200);
    expect(ms).toBeLessThan(10_000);
    expect(saved()).toHaveLength(1);
  });

  test('saves it also if it is interrupted before the target answers', async () => {
    const asked = vi.fn();
    const target = createServer((request, response) => {
      asked(request.resume());
      setTimeout(() => response.end('{}'), 500);
    });
    const recorder = await record(await serve(target));
    const gone = new AbortController();
    const sent = fetch(`${recorder.origin}/webhooks`, {
      ...{ method: 'POST', body: order(), signal: gone.signal },
      headers: { 'X-Service-Event': 'order:paid', 'X-Service-Webhook': 'whl_1' },
    }).catch(() => undefined);
    await vi.waitFor(() => expect(asked).toHaveBeenCalledOnce());
    gone.abort();
    await sent;
    recorder.interrupt();
    const { stderr, records } = await recorder.ended;
    expect(records()).toMatchObject([{ status: 200 }]);
    expect(stderr).toContain('1 delivery saved in');
  });

  test('reports that it verified nothing if it has no secret', async () => {
    const url = await serveReceiver();
    const recorder = await recordWith({ WEBHOOK_SECRET: '' }, url);
    await deliver(recorder.origin, order());
    await told(recorder, 1);
    expect(lines(recorder.output())).toMatchObject([{ signature: 'unchecked', good: true }]);
    expect(read('0001-order-paid.hook.json').description).toContain('no secret was given');
  });

  test.each([
    [['record', 'localhost:3000'], 'http://localhost:3000/webhooks'],
    [['record', 'http://shop.test/webhooks'], '--plain-http'],
  ])('rejects an invalid target: %j', async (args, hint) => {
    const { status, stdout, stderr } = await run(args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(hint);
    expect(existsSync('test/webhooks')).toBe(false);
  });
});
