import { createClient } from 'storefront-webhooks/api';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { json, type Reply, startProvider } from './provider.js';

const provider = await startProvider();
afterAll(() => provider.stop());
beforeEach(() => provider.answers());

const { blacklist, orders, webhookLogs } = createClient({
  baseUrl: provider.origin,
  auth: { accessToken: 'tok_1' },
});

const order = (id: string) => ({ id, status: 100, email: 'buyer@example.com' });

/** Serves a list of the provider in pages of `perPage`. */
function serve(ids: () => readonly string[], perPage = 20, total = true): Reply {
  return (response, request) => {
    const page = Number(new URLSearchParams(request.url?.split('?')[1]).get('page'));
    const all = ids();
    const shown = all.slice((page - 1) * perPage, page * perPage).map(order);
    const pages = String(Math.max(1, Math.ceil(all.length / perPage)));
    json(200, shown, total ? { 'X-Total-Pages': pages } : {})(response, request);
  };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const many = Array.from({ length: 45 }, (_, index) => `ord_${index}`);
const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id);
const urls = () => provider.received.map(({ url }) => url?.split('?')[1]);

describe('an awaited list', () => {
  test('is one page with the total number of pages', async () => {
    provider.answers(serve(() => many));
    const { items, page, totalPages } = await orders.list({ page: 3 });
    expect(idsOf(items)).toEqual(many.slice(40));
    expect({ page, totalPages }).toEqual({ page: 3, totalPages: 3 });
    expect(provider.received).toHaveLength(1);
  });

  test.each(['', 'many', '-1', '1.5'])('has no total if X-Total-Pages is %j', async (header) => {
    provider.answers(json(200, [], { 'X-Total-Pages': header }));
    expect(await orders.list()).toEqual({ items: [], page: 1, totalPages: undefined });
  });
});

describe('a list in for await', () => {
  test('yields all records from its page on, and requests each page once', async () => {
    provider.answers(serve(() => many));
    expect(idsOf(await collect(orders.list()))).toEqual(many);
    expect(urls()).toEqual(['page=1', 'page=2', 'page=3']);
    provider.answers(serve(() => many, 10));
    expect(idsOf(await collect(orders.list({ page: 4, perPage: 10 })))).toEqual(many.slice(30));
    expect(urls()).toEqual(['page=4&per_page=10', 'page=5&per_page=10']);
  });

  test('requests no further pages after a break', async () => {
    provider.answers(serve(() => many));
    for await (const { id } of orders.list()) if (id === 'ord_25') break;
    expect(urls()).toEqual(['page=1', 'page=2']);
  });

  test('can be empty', async () => {
    provider.answers(serve(() => []));
    expect(await collect(orders.list())).toEqual([]);
    expect(provider.received).toHaveLength(1);
  });

  test.each([
    ['empty pages', [], [order('ord_1')], 6],
    ['the same page', [order('ord_1')], [order('ord_1')], 6],
    [
      'the same page with an unreadable record',
      [order('ord_1'), { id: 'ord_2' }],
      [order('ord_1'), { id: 'ord_2' }],
      6,
    ],
  ])(
    'ends after five more pages if a total that is too large brings %s',
    async (_, rest, first, requests) => {
      const headers = { 'X-Total-Pages': '99' };
      provider.answers(json(200, first, headers), json(200, rest, headers));
      expect(idsOf(await collect(orders.list({ onIssues() {} })))).toEqual(['ord_1']);
      expect(provider.received).toHaveLength(requests);
    },
  );

  test('ends after five more pages if the same records follow in another order', async () => {
    const headers = { 'X-Total-Pages': '99' };
    const [one, two] = [order('ord_1'), order('ord_2')];
    const turns = Array.from({ length: 6 }, (_, at) => (at % 2 ? [two, one] : [one, two]));
    provider.answers(...turns.map((page) => json(200, page, headers)));
    expect(idsOf(await collect(orders.list()))).toEqual(['ord_1', 'ord_2']);
    expect(provider.received).toHaveLength(6);
  });

  test('ends after 20 more pages if the same pages follow in turn', async () => {
    const headers = { 'X-Total-Pages': '99' };
    const turns = Array.from({ length: 22 }, (_, at) => [order(`ord_${at % 2}`), { id: 'ord_x' }]);
    provider.answers(...turns.map((page) => json(200, page, headers)));
    const ids = idsOf(await collect(orders.list({ onIssues() {} })));
    expect(ids).toEqual(['ord_0', 'ord_1']);
    expect(provider.received).toHaveLength(22);
  });

  test('goes on after 19 pages without a new record', async () => {
    const headers = { 'X-Total-Pages': '22' };
    const turns = Array.from({ length: 21 }, (_, at) => [order(`ord_${at % 2}`)]);
    const pages = [...turns, [order('ord_2')]];
    provider.answers(...pages.map((page) => json(200, page, headers)));
    expect(idsOf(await collect(orders.list()))).toEqual(['ord_0', 'ord_1', 'ord_2']);
  });

  test('goes on after 25 pages without a new record if more records than theirs came before', async () => {
    const headers = { 'X-Total-Pages': '56' };
    const before = Array.from({ length: 30 }, (_, at) => [order(`ord_${at}`)]);
    const pages = [...before, ...before.slice(5), [order('ord_30')]];
    provider.answers(...pages.map((page) => json(200, page, headers)));
    expect(await collect(orders.list())).toHaveLength(31);
  });

  test('misses no record while many new records push the others down', async () => {
    const [newest, known, oldest] = ['ord_3', 'ord_2', 'ord_1'].map((id) => [order(id)]);
    const pages = [newest, known, newest, known, newest, known, newest, known, oldest];
    const headers = { 'X-Total-Pages': '9' };
    provider.answers(...pages.map((page) => json(200, page, headers)));
    expect(idsOf(await collect(orders.list()))).toEqual(['ord_3', 'ord_2', 'ord_1']);
  });

  test('goes on after four empty pages, and after unreadable ones', async () => {
    const headers = { 'X-Total-Pages': '12' };
    const [one, none, odd] = [[order('ord_1')], [], [{ id: 'ord_2' }]];
    const pages = [one, none, one, none, one, odd, none, none, none, none, odd, [order('ord_3')]];
    provider.answers(...pages.map((page) => json(200, page, headers)));
    expect(idsOf(await collect(orders.list({ onIssues() {} })))).toEqual(['ord_1', 'ord_3']);
  });

  test('ends at a page without new records if there is no total', async () => {
    provider.answers(serve(() => many, 20, false));
    expect(idsOf(await collect(orders.list()))).toEqual(many);
    expect(provider.received).toHaveLength(4);
    // A provider that always returns the same page.
    provider.answers(json(200, [order('ord_1')]));
    expect(idsOf(await collect(orders.list()))).toEqual(['ord_1']);
    expect(provider.received).toHaveLength(2);
  });

  test('yields no record twice while new ones are created', async () => {
    const now = [...many];
    const grow: Reply = (response, request) => {
      serve(() => now)(response, request);
      now.unshift(`ord_new_${now.length}`, `ord_new_${now.length + 1}`);
    };
    provider.answers(grow);
    expect(idsOf(await collect(orders.list()))).toEqual(many);
  });

  test('rejects if a later page fails', async () => {
    provider.answers(
      serve(() => many),
      json(403, { message: 'No more.' }),
    );
    const seen: string[] = [];
    const read = async () => {
      for await (const { id } of orders.list()) seen.push(id);
    };
    await expect(read()).rejects.toMatchObject({ code: 'forbidden', operation: 'orders.list' });
    expect(seen).toHaveLength(20);
  });

  test('may fail before it is awaited, and rejects when it is', async () => {
    provider.answers(json(403, { message: 'No.' }));
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const list = orders.list();
    await vi.waitFor(() => expect(provider.received).toHaveLength(1));
    // The response arrived long before.
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    await expect(collect(list)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(list).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('can be read twice', async () => {
    provider.answers(serve(() => many));
    const list = orders.list();
    expect(await collect(list)).toEqual(await collect(list));
  });
});

describe('an invalid record', () => {
  const entry = {
    blacklist_type: 1,
    blocked_data: 'x',
    note: null,
    created_at: 't',
    updated_at: 't',
  };
  const list = [
    { ...entry, id: 'bl_1' },
    { ...entry, id: 'bl_2', note: 5 },
    { ...entry, id: 'bl_3', blocked_data: null },
    { ...entry, id: 'bl_4' },
  ];

  test('rejects the page with the number of the record', async () => {
    provider.answers(json(200, list));
    await expect(blacklist.list()).rejects.toMatchObject({
      code: 'response_invalid',
      message:
        'blacklist.list: The answer has a record that does not fit, number 3 (blocked_data: expected string). To leave such records out, pass { onIssues }. See node_modules/storefront-webhooks/docs/errors.md#api-response_invalid',
    });
    await expect(collect(blacklist.list())).rejects.toMatchObject({ code: 'response_invalid' });
  });

  test('is passed to onIssues as it arrived, and the other records are returned', async () => {
    provider.answers(json(200, list, { 'X-Total-Pages': '1' }));
    const onIssues = vi.fn();
    expect(await collect(blacklist.list({ onIssues }))).toEqual([
      list[0],
      { ...list[1], note: undefined },
      list[3],
    ]);
    expect(onIssues.mock.calls).toEqual([
      [list[1], [{ path: 'note', message: 'expected string' }]],
      [list[2], [{ path: 'blocked_data', message: 'expected string' }]],
    ]);
  });
});

describe('a list in for await without a total', () => {
  const bad = (id: string) => ({ id });
  const onIssues = () => {};

  test('goes on after pages on which no record can be read', async () => {
    const unreadable = Array.from({ length: 20 }, (_, at) => json(200, [bad(`ord_bad_${at}`)]));
    provider.answers(
      json(200, [order('ord_1')]),
      ...unreadable,
      json(200, [order('ord_2')]),
      ...unreadable,
      json(200, [order('ord_3')]),
      json(200, []),
    );
    const ids = idsOf(await collect(orders.list({ onIssues })));
    expect(ids).toEqual(['ord_1', 'ord_2', 'ord_3']);
    provider.answers(json(200, [bad('ord_1')]), json(200, [order('ord_2')]), json(200, []));
    expect(idsOf(await collect(orders.list({ onIssues })))).toEqual(['ord_2']);
  });

  test('ends after 21 such pages in a row, because the provider may ignore the page', async () => {
    provider.answers(json(200, [bad('ord_1')]));
    expect(await collect(orders.list({ onIssues }))).toEqual([]);
    expect(provider.received).toHaveLength(21);
  });
});

test('a webhook log keeps any payload', async () => {
  const log = {
    id: 'whl_1',
    event: 'query:replied',
    payload: { nested: { list: [1, null, { a: '∞' }] }, n: 1e21 },
    response_code: 0,
    response_headers: null,
    next_retry_at: null,
  };
  provider.answers(json(200, [log], { 'X-Total-Pages': '1' }));
  expect(await collect(webhookLogs.list())).toEqual([log]);
});

test.each([{}, null, 'text', { message: 'no list' }])('%j is not a list', async (body) => {
  provider.answers(json(200, body));
  await expect(orders.list()).rejects.toMatchObject({
    code: 'response_invalid',
    message:
      'orders.list: The answer is not a list. See node_modules/storefront-webhooks/docs/errors.md#api-response_invalid',
  });
});
