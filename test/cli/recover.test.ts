import { createServer } from 'node:http';
import { createReceiver, type HandOff } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { describe, expect, test } from 'vitest';
import { durableStore } from '../support/durable.js';
import { begin, run, runInTerminal, serve } from './command.js';
import { openOutage } from './recover/outage.js';

const NAMED = 'test/cli/recover/named-maker.ts';
const timeout = 120_000;

const outcomesOf = ({ records }: Awaited<ReturnType<typeof run>>) =>
  records().flatMap(({ outcome }) => outcome ?? []);

describe('storefront-webhooks recover', { timeout }, () => {
  test('lists and runs missed deliveries, and finds them done the next time', async () => {
    const { args, env, sell, delivered } = await openOutage();
    const ids = await sell(3);

    const listed = await run(args, { env });
    expect([listed.status, outcomesOf(listed)]).toEqual([1, ['listed', 'listed', 'listed']]);
    expect(listed.records().at(-1)).toMatchObject({ complete: false, applied: false, missed: 3 });
    expect(listed.stderr).toContain('Nothing was done: add --apply.');
    expect(delivered()).toEqual([]);

    const failing = { ...env, SHOP_BROKEN: ids[1] ?? '' };
    const some = await run([...args, '--apply'], { env: failing });
    expect([some.status, outcomesOf(some)]).toEqual([1, ['handled', 'failed', 'handled']]);
    expect(some.stderr).toMatch(/no keys left[\s\S]*1 failed: a handler or/);

    const all = await run([...args, '--apply'], { env });
    expect([all.status, outcomesOf(all)]).toEqual([0, ['duplicate', 'handled', 'duplicate']]);
    expect(all.records().at(-1)).toMatchObject({
      complete: true,
      endpoint: 'enabled',
      missed: 3,
      doneNow: 1,
      doneBefore: 2,
      currencies: [{ currency: 'EUR', orders: 3, value: '29.70' }],
    });
    expect(all.stderr).toContain('Nothing is left.');
    const again = await run([...args, '--apply'], { env });
    expect([again.status, outcomesOf(again)]).toEqual([0, Array(3).fill('duplicate')]);
    expect(delivered().sort()).toEqual(ids.sort());
  });

  test('distinguishes a maintenance page from the shop by its answer', async () => {
    const page = { status: 200, answer: '<h1>Back soon</h1>' };
    const { args, env, sell, delivered } = await openOutage(page);
    const ids = await sell(1);
    const left = await run([...args, '--apply'], { env });
    expect([left.status, outcomesOf(left)]).toEqual([1, ['earlier']]);
    expect(left.stderr).toMatch(/^1 earlier: .* --earlier runs the others\.$/m);
    const { status, records } = await run([...args, '--apply', '--earlier'], { env });
    expect(status).toBe(0);
    expect(records()[0]).toMatchObject({ recordId: ids[0], reason: 'foreign', outcome: 'handled' });
    expect(delivered()).toEqual(ids);
  });

  test('reports why the provider cannot answer, and retries', async () => {
    const { args, env } = await openOutage();
    const { url } = await serve(createServer((_, response) => response.writeHead(503).end()));
    const own = [...args, '--api', url.replace('/webhooks', '')];
    const recovering = begin(own, { env });
    await recovering.says(/^The provider cannot answer now: .*\b503\b.* Retrying …$/m);
  });

  test('does not report "nothing missed" while the provider may still retry', async () => {
    const { args, env, sell } = await openOutage({ drop: true });
    await sell(1);
    const early = await run([...args, '--now', new Date().toISOString()], { env });
    expect(early.records()).toMatchObject([{ missed: 0, log: { waiting: 1 } }]);
    expect(early.stderr).toMatch(/^1 not over yet: .* --now <date>\.$/m);
    expect(early.stderr).not.toContain('Nothing was missed.');
    const later = new Date(Date.now() + 2 * 60 * 60_000).toISOString();
    expect(outcomesOf(await run([...args, '--now', later], { env }))).toEqual(['listed']);
  });

  test('takes a file that exports makeReceiver', async () => {
    const { args, env, sell, delivered } = await openOutage();
    const ids = await sell(1);
    const named = args.map((one) => (one.endsWith('receiver.ts') ? NAMED : one));
    expect((await run([...named, '--apply'], { env })).status).toBe(0);
    expect(delivered()).toEqual(ids);
  });

  test('deliveries that a queue has not done are reported, left, and run on request', async () => {
    const { args, env, answerWith, sell, delivered } = await openOutage();
    const lost: HandOff = { durable: true, enqueue: async (_, { key }) => ({ id: key }) };
    const store = durableStore();
    const front = createReceiver({ secret: env.SHOP_SECRET, store, queue: lost });
    answerWith(toNodeHandler(front.on('order:paid', () => {})));
    const ids = await sell(2);
    const later = new Date(Date.now() + 2 * 60 * 60_000).toISOString();
    const applied = [...args, '--apply', '--now', later];
    const told = await run(applied, { env });
    expect([told.status, told.records()]).toMatchObject([1, [{ missed: 0, log: { queued: 2 } }]]);
    expect(told.stderr).toMatch(/2 queued and not done: .* add --queued\.$/m);
    expect(told.stderr).not.toContain('Nothing is left.');
    // The store of the receiver's file has no earlier job as done, so it may not be the worker's.
    const left = await run([...applied, '--queued'], { env });
    expect([left.status, outcomesOf(left)]).toEqual([1, ['earlier', 'earlier']]);
    const all = await run([...applied, '--queued', '--earlier'], { env });
    expect([all.status, outcomesOf(all)]).toEqual([0, ['handled', 'handled']]);
    expect(all.stderr).toContain('Nothing is left.');
    expect(delivered()).toEqual(ids);
  });

  test('can be interrupted: it ends after the running delivery, and resumes the next time', async () => {
    const { args, env, sell, delivered } = await openOutage();
    const ids = await sell(3);
    const running = begin([...args, '--apply'], { env: { ...env, SHOP_MS: '100' } });
    await running.says(new RegExp(`delivering ${ids[1]}`));
    running.interrupt();
    const { status, stderr, records } = await running.ended;
    const last = { complete: false, missed: 2, doneNow: 2, untried: 1 };
    expect([status, records().at(-1)]).toMatchObject([1, last]);
    expect(stderr).toContain('1 of 3 was not tried.');
    expect(stderr).toContain('Run the command again to resume.');
    expect(delivered()).toEqual(ids.slice(0, 2));
    expect((await run([...args, '--apply'], { env })).status).toBe(0);
    expect(delivered()).toEqual(ids);
  });

  test('reports a disabled endpoint and its orders, and creates a new one on request', async () => {
    const { args, env, url, client, answerWith, sell, delivered } = await openOutage();
    const store = durableStore();
    const idle = createReceiver({ secret: env.SHOP_SECRET, store }).on('query:created', () => {});
    answerWith(toNodeHandler(idle));
    await sell(1);
    answerWith((_, response) => response.writeHead(503).end());
    const told = await sell(20);
    const [untold] = await sell(1);
    const fast = [...args, '--per-second', '1000'];
    const listed = await run(fast, { env });
    expect(listed.records().at(-1)).toMatchObject({ endpoint: 'disabled', missed: 21 });
    expect(listed.stderr).toContain(
      `THE WEBHOOK ENDPOINT IS DISABLED: the provider sends nothing to ${url}`,
    );
    expect(listed.stderr).toMatch(/1 unsafe: .*oncePer: \(order\) => order\.id/);
    const applied = await run([...fast, '--apply', '--recreate-endpoint'], { env });
    expect([applied.status, applied.records().at(-1)]).toMatchObject([
      1,
      { endpoint: 'recreated', missed: 21, doneNow: 20 },
    ]);
    const left = applied.records().filter(({ outcome }) => outcome === 'unsafe');
    expect(left).toMatchObject([{ recordId: untold, reason: 'unlogged' }]);
    const { items } = await client.webhookEndpoints.list();
    expect(items.filter(({ enabled }) => enabled)).toMatchObject([{ url }]);
    expect(delivered()).toEqual(told);
  });

  test('does nothing for an address without an endpoint, and names the addresses of the account', async () => {
    const { args, env, url, client, sell, delivered } = await openOutage();
    await client.webhookEndpoints.create({
      ...{ url: 'https://elsewhere.example/hooks', events: ['order:paid'] },
    });
    await sell(2);
    const typed = args.map((one) => (one === url ? `${url}webhook` : one));
    const refused = await run([...typed, '--apply'], { env });
    expect([refused.status, refused.stdout]).toEqual([2, '']);
    const nearest = `the most like it first: ${url}, https://elsewhere.example/hooks.`;
    expect(refused.stderr).toContain(nearest);
    const listed = await run(typed, { env });
    expect([listed.status, listed.records()]).toMatchObject([1, [{ endpoint: 'missing' }]]);
    expect(listed.stderr).toContain(nearest);
    const byLog = await run([...typed, '--apply', '--no-orders'], { env });
    expect(byLog.records()).toMatchObject([{ missed: 0, doneNow: 0 }]);
    expect(delivered()).toEqual([]);
  });

  test.each([0, 80, 200])('fits into a terminal of %i columns', async (columns) => {
    const { args, env, sell } = await openOutage();
    const [id = ''] = await sell(1);
    const { lines } = await runInTerminal(columns, args, { env });
    expect(lines.every(({ length }) => length <= (columns || 80))).toBe(true);
    expect(lines[0]).toMatch(/^\d\d-\d\d \d\d:\d\d {2}order:paid .*9\.90 EUR .*refused +listed/);
    expect(lines.slice(1)).toEqual([
      '',
      'order                     missed  done now  done before  money',
      expect.stringMatching(`^${id} +1 +0 +0 +9.90 EUR$`),
      expect.stringMatching(/^1 in all +1 +0 +0 +9.90 EUR$/),
      'Nothing was done: add --apply.',
    ]);
  });

  test.each([
    ['from stdin', ['--token-file', '-'], 'NONE'],
    ['from another variable', ['--token-env', 'MY_TOKEN'], 'MY_TOKEN'],
    ['of an e-mail address', ['--email', 'a@example.com'], 'API_KEY'],
  ])('takes credentials %s', async (_, flags, name) => {
    const { args, env } = await openOutage();
    const given = { ...env, ACCESS_TOKEN: '', [name]: env.ACCESS_TOKEN };
    const input = `${env.ACCESS_TOKEN}\n`;
    const { status, records } = await run([...args, ...flags], { env: given, input });
    expect([status, records()]).toMatchObject([0, [{ endpoint: 'enabled' }]]);
  });
});

describe('storefront-webhooks recover, used wrongly', { timeout }, () => {
  test.each([
    ['no file', ['--receiver', 'nowhere.ts'], {}, 'There is no file nowhere.ts'],
    [
      'a module without a receiver',
      ['--receiver', 'test/cli/command.ts'],
      {},
      'exports no receiver. Add to it: export const receiver = createReceiver(',
    ],
    ['a rejected token', [], { ACCESS_TOKEN: 'wrong' }, 'rejects the credentials (401)'],
    ['no file of a token', ['--token-file', 'nowhere'], {}, 'There is no file nowhere.'],
    ['no token', [], { ACCESS_TOKEN: '' }, 'set the environment variable ACCESS_TOKEN'],
    ['no API key', ['--email', 'a@example.com'], {}, 'set the environment variable API_KEY'],
    ['a time that is too long ago', ['--since', '40d'], {}, 'at most 30 days ago'],
    ['an invalid time', ['--since', 'yesterday'], {}, 'a duration such as 12h or 7d'],
    ['a day that does not exist', ['--since', '2026-02-30'], {}, 'or a date such as 2026-11-20'],
    ['a time of such a day', ['--now', '2026-02-30T08:00:00Z'], {}, 'Give a date such as'],
    ['an invalid duration', ['--pending-after', '5'], {}, 'a duration such as 90s, 5m'],
    ['a new endpoint without --apply', ['--recreate-endpoint'], {}, '{ apply: true }'],
  ])('exits with 2: %s', async (_, flags, changed, hint) => {
    const { args, env } = await openOutage();
    const { status, stdout, stderr } = await run([...args, ...flags], {
      env: { ...env, ...changed },
    });
    expect(stderr).toContain(hint);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect([status, stdout]).toEqual([2, '']);
  });

  test('exits with 2 if the token may not do this, without doubting the token', async () => {
    const { args, env } = await openOutage();
    const { url } = await serve(
      createServer((_, response) => response.writeHead(403).end('{"message":"No."}')),
    );
    const { status, stderr } = await run([...args, '--api', url], { env });
    expect(stderr.replace(/\s+/g, ' ')).toMatch(
      / may not do this \(403\): .* Use a token .* may\./,
    );
    expect([status, stderr.includes('Check the token')]).toEqual([2, false]);
  });
});
