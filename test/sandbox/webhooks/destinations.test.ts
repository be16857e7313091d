import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Destinations, type LookupAll } from '../../../src/sandbox/webhooks/destinations.js';
import { type Listener, startListener } from './listener.js';
import { openShop } from './shop.js';

// The owner of a name decides its address, and can change it between two lookups.
const lookup = vi.fn<LookupAll>();

function leadsTo(...addresses: string[]) {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  lookup.mockImplementation((_host, _options, done) => done(null, found));
}

let listener: Listener;
beforeEach(async () => {
  listener = await startListener();
});
afterEach(async () => {
  lookup.mockReset();
  await listener.close();
});

/** Sends a webhook to a URL from a sandbox that allows some hosts, and returns its log. */
async function logOf(url: string, { allowHosts = [] as string[] } = {}) {
  const shop = openShop({ allowHosts, lookup });
  shop.subscribe(url);
  shop.order();
  await shop.idle();
  const [log] = shop.logs();
  await shop.close();
  return log;
}

const PRIVATE = [
  '0.0.0.0',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:a00:1',
  '64:ff9b::a00:1',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:a00:1::1',
  '3fff::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
];

const PUBLIC = [
  '1.1.1.1',
  '9.255.255.255',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450::1',
];

/** Looks up a destination as `node:net` does. */
function find(host: string, { all = true, allowHosts = [] as string[] } = {}) {
  return new Promise((resolve, reject) => {
    new Destinations(allowHosts, lookup).lookup(host, { all }, (error, found) =>
      error ? reject(error) : resolve(found),
    );
  });
}

describe('a webhook to a private address is not sent', () => {
  const inUrl = (address: string) => (address.includes(':') ? `[${address}]` : address);
  const beyond = PRIVATE.filter((address) => !['127.0.0.1', '::1'].includes(address));

  test.each(beyond)('%s in a URL', async (address) => {
    const log = await logOf(`https://${inUrl(address)}/`);
    expect(log).toMatchObject({
      response: expect.stringMatching(/^Not sent: .+ is on a private network\.$/),
      response_code: 0,
      response_headers: null,
      retries: 0,
      next_retry_at: null,
    });
  });

  test.each(PRIVATE)('%s as the address of a name', async (address) => {
    leadsTo(address);
    await expect(find('rebound.example')).rejects.toThrow(
      'rebound.example is on a private network',
    );
    leadsTo('1.1.1.1', address);
    await expect(find('rebound.example')).rejects.toThrow(
      'rebound.example is on a private network',
    );
  });

  test.each([
    'https://0x0a.1/',
    'https://167772161/',
    'https://012.0.0.1/',
    'https://10.0.0.1./',
    'https://①⓪.0.0.1/',
    'https://[::ffff:10.0.0.1]/',
    'https://user:password@10.0.0.1/',
  ])('%s, in any notation', async (url) => {
    expect((await logOf(url))?.response).toMatch(/is on a private network/);
  });

  test('a loopback address counts as private if another name leads to it', async () => {
    leadsTo('127.0.0.1');
    const log = await logOf(`https://rebound.example:${listener.port}/`);
    expect(log?.response).toBe('Not sent: rebound.example is on a private network.');
    expect(listener.came).toEqual([]);
  });
});

describe('a webhook to a public address is sent', () => {
  test.each(PUBLIC)('%s', async (address) => {
    leadsTo(address);
    expect(await find('shop.example')).toEqual([
      { address, family: address.includes(':') ? 6 : 4 },
    ]);
    expect(await find('shop.example', { all: false })).toBe(address);
  });
});

test('the checked address is the connected one: each attempt looks a name up once', async () => {
  lookup.mockImplementationOnce((_host, _options, done) => {
    leadsTo('::1');
    done(null, [{ address: '127.0.0.1', family: 4 }]);
  });
  const url = `http://rebound.example:${listener.port}/`;
  expect((await logOf(url, { allowHosts: ['rebound.example'] }))?.response_code).toBe(200);
  expect(lookup).toHaveBeenCalledTimes(1);
});

describe('[spec: Events] webhooks are sent to HTTPS URLs', () => {
  test.each([
    ['http://shop.example/', 'plain HTTP is for this machine only'],
    ['http://10.0.0.1/', 'plain HTTP is for this machine only'],
    ['http://localhost.example/', 'plain HTTP is for this machine only'],
    ['ftp://127.0.0.1/', 'the URL is neither HTTPS nor HTTP'],
    ['file:///etc/passwd', 'the URL is neither HTTPS nor HTTP'],
    ['/webhooks', 'the URL is not valid'],
  ])('%s is rejected', async (url, reason) => {
    expect((await logOf(url))?.response).toBe(`Not sent: ${reason}.`);
    expect(lookup).not.toHaveBeenCalled();
  });

  test.each(['localhost', 'LOCALHOST', 'localhost.', 'shop.localhost', '127.0.0.1', '127.1'])(
    'plain HTTP on this machine is allowed: %s',
    async (host) => {
      const log = await logOf(`http://${host}:${listener.port}/webhooks`);
      expect(log?.response_code).toBe(200);
      expect(lookup).not.toHaveBeenCalled();
    },
  );

  test('a server on this machine may listen on IPv6 only', async () => {
    const six = await startListener('::1');
    expect((await logOf(six.url))?.response_code).toBe(200);
    expect((await logOf(`http://localhost:${six.port}/`))?.response_code).toBe(200);
    await six.close();
  });
});

describe('an allowed host', () => {
  const allowHosts = ['Shop.Internal'];

  test('may be on a private network and use plain HTTP', async () => {
    leadsTo('127.0.0.1');
    const log = await logOf(`http://shop.internal:${listener.port}/webhooks`, { allowHosts });
    expect(log?.response_code).toBe(200);
    expect(listener.came[0]?.headers.host).toBe(`shop.internal:${listener.port}`);
  });

  test('allows no other host, no subdomain and no parent domain', async () => {
    leadsTo('127.0.0.1');
    for (const host of ['other.internal', 'a.shop.internal', 'internal']) {
      const url = `https://${host}:${listener.port}/`;
      expect((await logOf(url, { allowHosts }))?.response).toMatch(/private network/);
    }
  });

  test('may be an address', async () => {
    const destinations = new Destinations(['10.0.0.1', '[fd00::1]']);
    expect(destinations.check('http://10.0.0.1:3000/').href).toBe('http://10.0.0.1:3000/');
    expect(destinations.check('http://[fd00::1]/').href).toBe('http://[fd00::1]/');
  });
});

test('a name without an address counts as no answer, and the webhook is retried', async () => {
  lookup.mockImplementation((_host, _options, done) =>
    done(new Error('getaddrinfo ENOTFOUND shop.example'), []),
  );
  expect(await logOf('https://shop.example/')).toMatchObject({
    response: 'No answer: getaddrinfo ENOTFOUND shop.example.',
    next_retry_at: '2026-11-20T10:00:10.000000+00:00',
  });
});

test('HTTPS verifies the certificate, on this machine as well', async () => {
  const log = await logOf(`https://127.0.0.1:${listener.port}/`);
  expect(log?.response).toMatch(/^No answer: .*(SSL|TLS|wrong version).*/i);
  expect(listener.came).toEqual([]);
});

test('a redirect to a private address is not followed', async () => {
  const other = await startListener();
  listener.answer({ status: 307, headers: { location: other.url } });
  expect(await logOf(listener.url)).toMatchObject({ response_code: 307 });
  expect(other.came).toEqual([]);
  await other.close();
});
