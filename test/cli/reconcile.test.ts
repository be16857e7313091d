import { createServer } from 'node:http';
import Database from 'libsql';
import { describe, expect, test } from 'vitest';
import { run, runInTerminal, serve } from './command.js';
import { openOutage } from './recover/outage.js';

const timeout = 120_000;

/** By this time, orders that were paid in a test are old enough to be judged. */
const LATER = new Date(Date.now() + 2 * 60 * 60_000).toISOString();

/** Opens a shop that has missed three orders, and has delivered a fourth twice. */
async function openShop() {
  const { args, env, sell } = await openOutage();
  const ids = await sell(4);
  const [, , , ...rest] = args;
  const receiver = ['--receiver', 'test/cli/recover/counted.ts'];
  const reconcile = ['reconcile', ...receiver, ...rest, '--now', LATER];
  // The first load creates its table.
  await run([...reconcile, '--since', '1h'], { env });
  const database = new Database(env.SHOP_DATABASE);
  for (let time = 0; time < 2; time++) {
    database.prepare('INSERT INTO delivered VALUES (?)').run(ids[3]);
  }
  database.close();
  return { ids, reconcile, recover: args, env };
}

describe('storefront-webhooks reconcile', { timeout }, () => {
  test('lists every disagreement until recovery has delivered the missed orders', async () => {
    const { ids, reconcile, recover, env } = await openShop();
    const first = await run(reconcile, { env });
    expect(first.status).toBe(1);
    expect(
      first
        .records()
        .map(({ orderId, kind, because, times }) => ({ orderId, kind, because, times })),
    ).toEqual([
      { orderId: ids[3], kind: 'delivered_twice', because: undefined, times: 2 },
      ...[2, 1, 0].map((at) => ({
        orderId: ids[at],
        kind: 'not_delivered',
        because: 'refused',
        times: 0,
      })),
    ]);
    expect(first.stderr).toMatch(/4 orders, 4 paid, 1 delivered\.\n3 paid, not delivered\./);

    await run([...recover, '--apply'], { env });
    const { status, stderr, records } = await run(reconcile, { env });
    expect([status, records().map(({ kind, times }) => [kind, times])]).toEqual([
      1,
      [['delivered_twice', 3]],
    ]);
    expect(stderr).toContain('4 orders, 4 paid, 4 delivered.');
  });

  test('names the addresses of the account, and gives no other advice, if no endpoint has its own', async () => {
    const { args, env, url, sell } = await openOutage();
    await sell(1);
    const typed = args.slice(1).map((one) => (one === url ? `${url}webhook` : one));
    const { status, stderr, records } = await run(['reconcile', ...typed, '--now', LATER], { env });
    expect([status, records()]).toMatchObject([1, [{ because: 'unlogged' }]]);
    expect(stderr).toContain(`There is no webhook endpoint for ${url}webhook`);
    expect(stderr).toContain(`The account has ${url}.`);
    expect(stderr).not.toContain('recover --orders');
  });

  test.each([
    ['', 'give the whole address'],
    ['?shop=a', 'correct the query'],
  ])(
    'advises on the query, as recover does, if the endpoint at the path of --url …%s is not of its shop',
    async (query, remedy) => {
      const { args, env, url, client } = await openOutage();
      for await (const { id } of client.webhookEndpoints.list())
        await client.webhookEndpoints.update(id, { url: `${url}?shop=b` });
      const [, , , , , ...rest] = args;
      const receiver = ['--receiver', 'test/cli/recover/several-shops.ts'];
      for (const command of ['reconcile', 'recover']) {
        const asked = [command, ...receiver, '--url', `${url}${query}`, ...rest, '--now', LATER];
        const { status, stderr } = await run(asked, { env });
        expect([status, stderr]).toEqual([1, expect.stringContaining(remedy)]);
        expect(stderr).toContain('If the endpoint of your shop was deleted, create it again');
        expect(stderr).not.toContain('Correct --url');
      }
    },
  );

  test('says that all agree only if the provider sends to every address', async () => {
    const { args, env, url, client } = await openOutage();
    const others = `${url}/others`;
    await client.webhookEndpoints.create({ url: others, events: ['query:created'] });
    const ask = (...urls: readonly string[]) => {
      const named = urls.flatMap((one) => ['--url', one]);
      const at = args.indexOf('--url');
      const rest = [...args.slice(1, at), ...named, ...args.slice(at + 2), '--now', LATER];
      return run(['reconcile', ...rest], { env });
    };
    const agreed = await ask(url);
    expect([agreed.status, agreed.stderr]).toEqual([0, expect.stringContaining('All agree.')]);
    for (const [urls, why] of [
      [[`${url}webhook`], 'so this compared the wrong log'],
      [
        [url, `${url}webhook`],
        'webhook: the provider sends nothing there. If the endpoint has not',
      ],
      [[others], 'is subscribed to no event that the receiver has a handler for'],
    ] as const) {
      const { status, stdout, stderr } = await ask(...urls);
      expect([status, stdout, stderr]).toEqual([1, '', expect.stringContaining(why)]);
      expect(stderr).not.toContain('agree.');
    }
  });

  test('exits with 1 if it cannot read an order, although all others agree', async () => {
    const { args, api, env } = await openOutage();
    const { url: proxy } = await serve(
      createServer(async ({ url = '', headers: { authorization = '' } }, response) => {
        const answer = await fetch(new URL(url, api), { headers: { authorization } });
        const unreadable = url.includes('/orders?page=1&') ? [{ id: 5 }] : undefined;
        response.setHeader('content-type', 'application/json');
        response.end(unreadable ? JSON.stringify(unreadable) : await answer.text());
      }),
    );
    const ask = (origin: string) => {
      const [, ...rest] = args.map((one) => (one === api ? origin : one));
      return run(['reconcile', ...rest, '--now', LATER], { env });
    };
    expect((await ask(api)).status).toBe(0);
    const { status, stdout, stderr } = await ask(new URL(proxy).origin);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('1 could not be read');
  });

  test('prints a table for a spreadsheet', async () => {
    const { ids, reconcile, env } = await openShop();
    const { stdout } = await run([...reconcile, '--csv'], { env });
    const [head, twice, ...rest] = stdout.split('\r\n');
    expect(head).toBe('orderId,kind,because,times,status,value,currency,updatedAt');
    expect(twice).toMatch(
      new RegExp(`^${ids[3]},delivered_twice,,2,100,9\\.90,EUR,\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$`),
    );
    expect(rest).toHaveLength(4);
  });

  test('uses the log if the shop does not export its deliveries, and reports that', async () => {
    const { args, env, sell } = await openOutage();
    await sell(2);
    const [, ...rest] = args;
    const { status, records, stderr } = await run(['reconcile', ...rest, '--now', LATER], {
      env,
    });
    expect([status, records().at(-1)?.kind]).toEqual([1, 'not_delivered']);
    expect(stderr).toContain('Export your ledger, or delivered(orderIds)');
  });

  test('uses the ledger that the file exports beside the receiver', async () => {
    const { args, env, sell } = await openOutage();
    const ids = await sell(2);
    await run([...args, '--apply'], { env: { ...env, SHOP_BROKEN: `${ids[0]}` } });
    const [, , , ...rest] = args;
    const receiver = ['--receiver', 'test/cli/recover/entered.ts'];
    const reconcile = ['reconcile', ...receiver, ...rest, '--now', LATER];
    const { status, records, stderr } = await run(reconcile, { env });
    const found = records().map(({ orderId, kind, because }) => [orderId, kind, because]);
    expect([status, found]).toEqual([1, [[ids[0], 'not_delivered', 'failing']]]);
    expect(stderr).not.toContain('This compared the log');
  });

  test.each([0, 80, 200])('fits into a terminal of %i columns', async (columns) => {
    const { reconcile, env } = await openShop();
    const { lines } = await runInTerminal(columns, reconcile, { env });
    expect(lines.every(({ length }) => length <= (columns || 80))).toBe(true);
    expect(lines[0]).toMatch(/^\d\d-\d\d +ord_\w+ +9\.90 EUR +delivered twice +2×$/);
    expect(lines[1]).toMatch(/paid, not delivered +refused$/);
  });
});
