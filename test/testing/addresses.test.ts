import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

const secret = 'a secret for tests';
const urls: (string | undefined)[] = [];
const server = createServer(({ url }, response) => {
  urls.push(url);
  response.end();
});
let port = 0;
beforeAll(async () => {
  await once(server.listen(0), 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

const send = (address: string | URL, options = {}) =>
  replay(address, 'order:paid', { secret, timeout: 5_000, ...options });

test.each([
  'http://example.com/hooks?key=hidden',
  'http://192.168.0.1/hooks',
  'http://0.0.0.0/hooks',
  'http://128.0.0.1/hooks',
  'http://[::2]/hooks',
  'http://[::ffff:8.8.8.8]/hooks',
  'http://notlocalhost/hooks',
  'http://localhost.example.com/hooks',
  'http://127.0.0.1.example.com/hooks',
  'http://localhost@example.com/hooks',
])('plain HTTP to another machine needs consent: %s', async (address) => {
  for (const target of [address, new URL(address)]) {
    await expect(send(target)).rejects.toMatchObject({
      name: 'UsageError',
      code: 'option_invalid',
      message: expect.stringMatching(
        /^replay\(\) would send .* to http:\/\/[^ ?@]+\/hooks, .*\{ plainHttp: true \}/,
      ),
    });
  }
});

test('plain HTTP to another machine is sent with plainHttp: true', async () => {
  // Another name for this machine, which is not recognised as one.
  await expect(send(`http://0.0.0.0:${port}/a`)).rejects.toMatchObject({ code: 'option_invalid' });
  expect(await send(`http://0.0.0.0:${port}/a`, { plainHttp: true })).toMatchObject({
    status: 200,
  });
  expect(urls).toEqual(['/a']);
});

test.each(['localhost', '127.0.0.1', '127.1', '127.8.8.8', 'LOCALHOST'])(
  'http://%s is this machine, and needs no consent',
  async (host) => {
    expect(await send(`http://${host}:${port}`)).toMatchObject({ status: 200 });
  },
);

test.each(['http://[::1]:1', 'http://shop.localhost:1', 'https://0.0.0.0:1'])(
  '%s needs no consent',
  async (address) => {
    // Nothing listens there, but the request is sent.
    await expect(send(address)).rejects.toMatchObject({ name: 'WebhookError' });
  },
);

test.each(['', '/webhooks', 'localhost:3000/webhooks', 'ftp://127.0.0.1/', 'file:///etc/passwd'])(
  '%j is not a valid address',
  async (address) => {
    await expect(send(address)).rejects.toMatchObject({
      name: 'UsageError',
      code: 'target_invalid',
      message: expect.stringContaining('http://localhost:3000/webhooks'),
    });
  },
);

test.each([
  ['//127.0.0.2:9/x', '//127.0.0.2:9/x'],
  ['http://127.0.0.2:9/x', '/http://127.0.0.2:9/x'],
  ['\\\\127.0.0.2:9\\x', '/\\\\127.0.0.2:9\\x'],
  ['@127.0.0.2:9/x', '/@127.0.0.2:9/x'],
  ['hooks', '/hooks'],
  ['?a=1', '/?a=1'],
])('the path %s stays with the application', async (path, expected) => {
  const handler = vi.fn((_request: { url?: string | undefined }, response: { end(): void }) =>
    response.end(),
  );
  expect(await replay(handler, 'order:paid', { secret, path })).toMatchObject({ status: 200 });
  const slashed = expected.replaceAll('\\', '/');
  expect(handler.mock.calls.map(([{ url }]) => url)).toEqual([slashed]);

  const fetch = vi.fn(async (_: Request) => new Response());
  await replay({ fetch }, 'order:paid', { secret, path });
  expect(fetch.mock.calls[0]?.[0].url).toBe(`http://127.0.0.1${slashed}`);

  urls.length = 0;
  await replay(server, 'order:paid', { secret, path });
  expect(urls).toEqual([slashed]);
});
