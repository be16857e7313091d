import { expect, test } from 'vitest';
import { openSeller, PRODUCT_FORM } from '../seller.js';
import { LISTS } from './endpoints.js';

test.each(LISTS)(
  '[spec: Rules for all endpoints] lists are JSON arrays, with the page count in X-Total-Pages: %s %s',
  async (method, path) => {
    const { send } = await openSeller();
    const { status, headers, body } = await send(method, path);
    expect({ status, body }).toEqual({ status: 200, body: [] });
    expect(headers.get('x-total-pages')).toBe('1');
  },
);

test.each(LISTS)('[spec: Limits] per_page of %s %s is allowed 10 to 50', async (method, path) => {
  const { send } = await openSeller();
  for (const perPage of [10, 50]) {
    expect((await send(method, `${path}?per_page=${perPage}`)).status).toBe(200);
  }
  for (const [perPage, error] of [
    ['9', 'per_page has to be at least 10'],
    ['51', 'per_page has to be at most 50'],
    ['ten', 'per_page has to be a number'],
  ] as const) {
    const { status, body } = await send(method, `${path}?per_page=${perPage}`);
    expect({ status, errors: body.errors }).toEqual({ status: 400, errors: [error] });
  }
});

test.each(LISTS)('[spec: Limits] page of %s %s is an integer from 1 on', async (method, path) => {
  const { send } = await openSeller();
  for (const page of ['0', '-1', '1.5', 'one', '']) {
    expect((await send(method, `${path}?page=${page}`)).status, page).toBe(400);
  }
});

/** Creates records of every kind, one after another. */
async function fill(count: number) {
  const seller = await openSeller({ clock: 'manual' });
  const { send, account } = seller;
  const forms: Readonly<Record<string, (at: number) => string>> = {
    '/api/v2/products': (at) => PRODUCT_FORM.replace('Pocket+tuner', `Number+${at}`),
    '/api/v2/categories': (at) => `title=Number+${at}&product_ids[]=`,
    '/api/v2/blacklist': (at) => `blacklist_type=1&blocked_data=a${at}%40b.example`,
    '/api/v2/webhooks/endpoints': (at) => `url=https%3A%2F%2Fshop.example%2F${at}&events[]=`,
    '/api/v2/pay': (at) =>
      `title=Number+${at}&email=a%40b.example&currency=EUR&value=1&gateway=paypal&return_url=https%3A%2F%2Fme.example`,
  };
  for (let at = 1; at <= count; at++) {
    for (const [path, form] of Object.entries(forms)) {
      expect((await send('POST', path, form(at))).status).toBe(201);
    }
    // Create some of them at the same time.
    if (at % 3 === 0) await account.clock.advance(1000);
  }
  return seller;
}

const FILLED = LISTS.filter(([, path]) => !path.endsWith('/logs'));

test('[spec: Rules for all endpoints] lists are sorted by creation date, newest first, 20 to a page', async () => {
  const { send } = await fill(45);
  for (const [method, path] of FILLED) {
    const pages = await Promise.all(
      ['', '?page=2', '?page=3', '?page=4'].map((query) => send(method, path + query)),
    );
    expect(
      pages.map(({ body }) => body.length),
      path,
    ).toEqual([20, 20, 5, 0]);
    for (const { headers } of pages) expect(headers.get('x-total-pages')).toBe('3');
    const dates: string[] = pages.flatMap(({ body }) =>
      body.map(({ created_at }: { created_at: string }) => created_at),
    );
    expect(dates, path).toEqual(dates.toSorted().reverse());
    const ids = pages.flatMap(({ body }) => body.map(({ id }: { id: string }) => id));
    expect(new Set(ids).size, path).toBe(45);
  }
});

test('[spec: Rules for all endpoints] per_page sets the number of records on a page', async () => {
  const { send } = await fill(21);
  for (const [method, path] of FILLED) {
    const { body, headers } = await send(method, `${path}?per_page=10&page=3`);
    expect([body.length, headers.get('x-total-pages')], path).toEqual([1, '3']);
  }
});

test('the client reads all pages, and each record once', async () => {
  const { client } = await fill(45);
  const titles: (string | undefined)[] = [];
  for await (const order of client.orders.list({ perPage: 10 })) titles.push(order.product_title);
  expect(titles).toEqual(Array.from({ length: 45 }, (_, at) => `Number ${45 - at}`));
});

test('deleted records leave no gaps', async () => {
  const { client } = await fill(25);
  const all = [];
  for await (const entry of client.blacklist.list()) all.push(entry);
  for (const at of [0, 7, 12, 24]) await client.blacklist.delete(all[at]?.id ?? '');
  const left = [];
  for await (const entry of client.blacklist.list()) left.push(entry);
  expect(left).toEqual(all.filter((_, at) => ![0, 7, 12, 24].includes(at)));
});
