import { type ClientOptions, createClient } from 'storefront-webhooks/api';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { json, startProvider } from './provider.js';

const provider = await startProvider();
afterAll(() => provider.stop());
beforeEach(() => provider.answers());

const auth = { accessToken: 'tok_1' };

/** Calls the function as a program without types would. */
function create(options: unknown) {
  return () => createClient(options as ClientOptions);
}

test.each([
  [{ baseUrl: undefined }, 'baseUrl'],
  [{ baseUrl: '' }, 'baseUrl'],
  [{ baseUrl: 'shop.example' }, 'baseUrl'],
  [{ baseUrl: 'ftp://shop.example' }, 'baseUrl'],
  [{ baseUrl: 'https://shop.example?key=1' }, 'baseUrl'],
  [{ baseUrl: 'https://shop.example#top' }, 'baseUrl'],
  [{ baseUrl: 'https://shop.example/?' }, 'baseUrl'],
  [{ baseUrl: 'https://shop.example/shop#' }, 'baseUrl'],
  [{ baseUrl: 'https://seller:hidden@shop.example' }, 'baseUrl'],
  [{ baseUrl: 'https://shop.example/api/v2' }, 'baseUrl'],
  [{ baseUrl: 'https://shop.example/api/v2/' }, 'baseUrl'],
  [{ auth: undefined }, 'auth'],
  [{ auth: null }, 'auth'],
  [{ auth: 'hidden' }, 'auth'],
  [{ auth: {} }, 'auth'],
  [{ auth: { token: 'hidden' } }, 'auth'],
  [{ auth: { accessToken: 'hidden', apiKey: 'hidden' } }, 'auth'],
  [{ auth: { accessToken: undefined } }, 'auth.accessToken'],
  [{ auth: { accessToken: '' } }, 'auth.accessToken'],
  [{ auth: { accessToken: 'undefined' } }, 'auth.accessToken'],
  [{ auth: { accessToken: 'hidden\n' } }, 'auth.accessToken'],
  [{ auth: { accessToken: 'hidden hidden' } }, 'auth.accessToken'],
  [{ auth: { accessToken: 'hiddén' } }, 'auth.accessToken'],
  [{ auth: { email: 'seller@example.com', apiKey: undefined } }, 'auth.apiKey'],
  [{ auth: { email: 'seller@example.com', apiKey: 'hidden\r\n' } }, 'auth.apiKey'],
  [{ auth: { email: 'seller:hidden', apiKey: 'hidden' } }, 'auth.email'],
  [{ auth: { email: undefined, apiKey: 'hidden' } }, 'auth.email'],
  [{ variant: 'new' }, 'variant'],
  [{ timeout: 0 }, 'timeout'],
  [{ timeout: 2 ** 31 }, 'timeout'],
  [{ timeout: '30' }, 'timeout'],
  [{ retries: -1 }, 'retries'],
  [{ retries: 11 }, 'retries'],
  [{ retries: 1.5 }, 'retries'],
  [{ onAttempt: 'log' }, 'onAttempt'],
  [{ fetch: 'fetch' }, 'fetch'],
])('%o is rejected with the name of the option, but not its value', (options, name) => {
  const refusal = expect.objectContaining({
    name: 'UsageError',
    code: 'option_invalid',
    message: expect.stringMatching(
      new RegExp(`^createClient: the option ${name.replace('.', '\\.')} has to be (?!.*hidd)`),
    ),
  });
  const complete = { baseUrl: 'https://shop.example', auth, ...options };
  expect(create(complete)).toThrow(refusal);
});

test('an unknown option is rejected with the nearest name', () => {
  expect(create({ baseUrl: 'https://shop.example', auth, retry: 3 })).toThrow(
    /^createClient: there is no option retry. Did you mean "retries"\?/,
  );
});

describe('the address', () => {
  test.each([
    'http://shop.example',
    'http://192.168.0.1',
    'http://0.0.0.0:8080',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
  ])(
    '[spec: Authentication] all requests use HTTPS, because credentials must not be sent in plain text: %s is rejected',
    (baseUrl) => {
      expect(create({ baseUrl, auth })).toThrow(/the option baseUrl has to be an https: address/);
    },
  );

  test.each([
    'https://shop.example',
    'https://shop.example:8443/',
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
    'http://shop.localhost',
  ])('%s is accepted', (baseUrl) => {
    expect(create({ baseUrl, auth })).not.toThrow();
  });

  test.each(['/shop', '/shop/', '/shop//'])('may have a path, as %s', async (path) => {
    provider.answers(json(204));
    const client = createClient({ baseUrl: provider.origin + path, auth });
    await client.products.delete('prd_1');
    expect(provider.received[0]?.url).toBe('/shop/api/v2/products/prd_1');
  });
});

const client = createClient({ baseUrl: provider.origin, auth });

describe('an id', () => {
  test.each([
    ['a/b', 'a%2Fb'],
    ['../orders', '..%2Forders'],
    ['a?b#c', 'a%3Fb%23c'],
    ['%2e%2e', '%252e%252e'],
    ['$&', '%24%26'],
    ['ö ', '%C3%B6%20'],
  ])('%s is encoded and stays within its part of the path', async (id, encoded) => {
    provider.answers(json(204));
    await client.products.delete(id);
    expect(provider.received[0]?.url).toBe(`/api/v2/products/${encoded}`);
  });

  test.each(['', '.', '..', 'prd_\ud800', undefined, null, 7, {}])(
    '%j is rejected before anything is sent',
    async (id) => {
      const message = /^products\.\w+ expects the id of a record but got /;
      const refusal = {
        name: 'UsageError',
        code: 'parameter_invalid',
        message: expect.stringMatching(message),
      };
      await expect(client.products.get(id as string)).rejects.toMatchObject(refusal);
      await expect(client.products.delete(id as string)).rejects.toMatchObject(refusal);
      await expect(client.products.update(id as string, {})).rejects.toMatchObject(refusal);
      expect(provider.received).toEqual([]);
    },
  );
});

describe('the page option of a list', () => {
  test.each([
    [{ page: 0 }, 'page has to be at least 1'],
    [{ page: 1.5 }, 'page has to be a whole number'],
    [{ page: '2' }, 'page has to be a number'],
    [{ perPage: 9 }, 'perPage has to be at least 10'],
    [{ perPage: 51 }, 'perPage has to be at most 50'],
    [{ perPage: Number.NaN }, 'perPage has to be a number'],
  ])('%o is rejected before the request', async (options, fault) => {
    await expect(client.orders.list(options as object)).rejects.toMatchObject({
      name: 'UsageError',
      code: 'option_invalid',
      message: `orders.list: ${fault}. See node_modules/storefront-webhooks/docs/errors.md#option_invalid`,
    });
    expect(provider.received).toEqual([]);
  });

  test.each([10, 50])('may ask for %d records', async (perPage) => {
    provider.answers(json(200, []));
    await client.orders.list({ perPage });
    expect(provider.received[0]?.url).toBe(`/api/v2/orders?page=1&per_page=${perPage}`);
  });
});

test('a method rejects an unknown option', async () => {
  const refusal = (name: string) => ({
    name: 'UsageError',
    code: 'option_invalid',
    message: expect.stringContaining(name),
  });
  const options = { per_page: 10, sginal: undefined };
  await expect(client.orders.list(options as object)).rejects.toMatchObject(
    refusal('Did you mean "perPage"?'),
  );
  await expect(client.orders.get('ord_1', { sginal: 1 } as object)).rejects.toMatchObject(
    refusal('Did you mean "signal"?'),
  );
  await expect(client.products.delete('prd_1', { extra: {} } as object)).rejects.toMatchObject(
    refusal('no option extra'),
  );
  expect(provider.received).toEqual([]);
});

describe('a parameter that the specification does not name', () => {
  test('is rejected with the nearest name', async () => {
    const parameters = { title: 'Tuners', product_id: ['prd_1'] };
    await expect(client.categories.update('cat_1', parameters as object)).rejects.toMatchObject({
      name: 'UsageError',
      code: 'parameter_invalid',
      message:
        'categories.update: there is no parameter product_id. Did you mean "product_ids"? ' +
        'To send a parameter that the specification does not name, pass { extra: { product_id: … } } as the last argument. ' +
        'See node_modules/storefront-webhooks/docs/errors.md#parameter_invalid',
    });
    expect(provider.received).toEqual([]);
  });

  test('is sent if it is in extra', async () => {
    provider.answers(json(200, { id: 'cat_1', title: 'Tuners' }));
    await client.categories.update('cat_1', { title: 'Tuners' }, { extra: { colour: 'red' } });
    expect(provider.received[0]?.body).toBe('title=Tuners&colour=red');
  });

  test.each([undefined, null, 'title=Tuners'])(
    'cannot be taken from parameters that are %j',
    async (parameters) => {
      await expect(
        client.categories.update('cat_1', parameters as unknown as object),
      ).rejects.toMatchObject({ code: 'parameter_invalid' });
    },
  );
});

describe('fetch', () => {
  test('can be replaced by a function of the program', async () => {
    const fetch = vi.fn(async () =>
      Response.json({ id: 'prd_1', title: 'T', product_type: 'file' }),
    );
    const { products } = createClient({ baseUrl: 'https://shop.example/', auth, fetch });
    await products.get('prd_1');
    expect(fetch).toHaveBeenCalledExactlyOnceWith('https://shop.example/api/v2/products/prd_1', {
      method: 'GET',
      headers: expect.objectContaining({ authorization: 'Bearer tok_1' }),
      redirect: 'manual',
      signal: expect.any(AbortSignal),
    });
  });

  test('is looked up at each call, so that a later replacement is used', async () => {
    const { products } = createClient({ baseUrl: 'https://shop.example', auth });
    const spy = vi
      .spyOn(globalThis, 'fetch')
      .mockResolvedValue(new Response(null, { status: 204 }));
    try {
      await products.delete('prd_1');
      expect(spy).toHaveBeenCalledOnce();
    } finally {
      spy.mockRestore();
    }
  });
});
