import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSandbox, type SandboxOptions } from 'storefront-webhooks/sandbox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openJournal } from '../../../src/sandbox/state/journal.js';
import { openSqlite } from '../../../src/sandbox/state/sqlite.js';
import { useSandboxFile } from '../../support/sandbox-file.js';
import { PAYMENT, sell, TUNER } from '../seller.js';
import { startListener } from '../webhooks/listener.js';

const file = useSandboxFile();

const open = (options: SandboxOptions = {}) =>
  createSandbox({ db: file.db, clock: 'manual', ...options });

test('a restarted sandbox has every record, setting and time of every account', async () => {
  const first = open();
  const { client, account } = await sell(first);
  const product = await client.products.create(TUNER);
  await client.categories.create({ title: 'All', product_ids: [product.id] });
  await client.blacklist.create({ blacklist_type: 3, blocked_data: 'FR' });
  await client.webhookEndpoints.create({ url: 'https://shop.example/in', events: ['order:paid'] });
  const payment = await client.payments.create({ ...PAYMENT, white_label: true });
  const order = await account.buy({ product_id: product.id, gateway: 'bitcoin' });
  await account.pay(order.id);
  account.set({ gateways: ['bitcoin'] });
  await account.clock.advance(3_600_000);
  const other = await sell(first, 'newer', 'sk_test_other');
  await other.client.blacklist.create({ blacklist_type: 3, blocked_data: 'ES' });
  const lists = [
    'products',
    'categories',
    'orders',
    'blacklist',
    'webhooks/endpoints',
    'webhooks/logs',
  ];
  const read = async ({ send }: Pick<typeof other, 'send'>) =>
    Promise.all(lists.map(async (name) => (await send('GET', `/api/v2/${name}`)).body));
  const before = [await read({ send: (await sell(first)).send }), await read(other)];
  const now = account.clock.now();
  await first.close();

  const second = open();
  const again = await sell(second);
  expect([await read(again), await read(await sell(second, 'newer', 'sk_test_other'))]).toEqual(
    before,
  );
  expect(again.account.settings.gateways).toEqual(['bitcoin']);
  expect(again.account.clock.now()).toBe(now);
  expect(await again.account.confirm(order.id)).toMatchObject({ status: 100, delivered: 'AAA-1' });
  await again.client.payments.delete(payment.id);
  await second.close();
});

test('deleted records stay deleted, and new records follow the old ones', async () => {
  const first = open();
  const { client } = await sell(first);
  const made = [];
  for (const blocked_data of ['AT', 'BE', 'CH']) {
    made.push(await client.blacklist.create({ blacklist_type: 3, blocked_data }));
  }
  await client.blacklist.delete(made[2]?.id ?? '');
  await client.blacklist.delete(made[0]?.id ?? '');
  await first.close();
  const second = open();
  const again = await sell(second);
  await again.client.blacklist.create({ blacklist_type: 3, blocked_data: 'DE' });
  const { items } = await again.client.blacklist.list();
  expect(items.map(({ blocked_data }) => blocked_data)).toEqual(['DE', 'BE']);
  await second.close();
});

test('a real clock that was advanced continues from there', async () => {
  const first = open({ clock: 'real' });
  await first.account('sk_test_alpha').clock.advance(3_600_000);
  await first.close();
  const second = open({ clock: 'real' });
  const ahead = second.account('sk_test_alpha').clock.now() - Date.now();
  expect(ahead).toBeGreaterThan(3_590_000);
  expect(ahead).toBeLessThan(3_601_000);
  await second.close();
});

test('a sandbox that was advanced continues from there, with every account that has its time', async () => {
  const first = open();
  await first.clock.advance(3_600_000);
  first.account('sk_test_alpha').set({ gateways: ['bitcoin'] });
  const now = first.clock.now();
  await first.close();
  const second = open();
  const clocks = [second, second.account('sk_test_alpha'), second.account('sk_test_new')];
  expect(clocks.map(({ clock }) => clock.now())).toEqual([now, now, now]);
  await second.close();
});

test('an account that was reset keeps its time', async () => {
  const first = open();
  const account = first.account('sk_test_alpha');
  await account.clock.advance(3_600_000);
  account.reset();
  const now = account.clock.now();
  await first.close();
  const second = open();
  expect(second.account('sk_test_alpha').clock.now()).toBe(now);
  await second.close();
});

test('every timestamp after a restart is later than the ones before, even if the time stands still', async () => {
  const first = open();
  const { client, account } = await sell(first);
  await account.clock.advance(60_000);
  const product = await client.products.create(TUNER);
  const order = await account.buy({ product_id: product.id });
  const { updated_at: paidAt } = await account.pay(order.id);
  const other = await account.buy({ product_id: product.id });
  await first.close();

  const second = open();
  const again = await sell(second);
  expect(again.account.clock.now()).toBe(Date.parse(paidAt));
  const { updated_at: refundedAt } = await again.account.refund(order.id);
  expect(refundedAt > paidAt).toBe(true);
  expect(refundedAt > other.updated_at).toBe(true);
  await second.close();
});

test('a clock that was moved does not keep the other settings', async () => {
  const first = open();
  await first.account('sk_test_alpha').clock.advance(60_000);
  first.account('sk_test_beta').set({ webhook_secret: 'own' });
  await first.close();
  const second = open({ webhookSecret: 'chosen', gateways: ['bitcoin'] });
  expect(second.account('sk_test_alpha').settings).toMatchObject({
    webhook_secret: 'chosen',
    gateways: ['bitcoin'],
  });
  expect(second.account('sk_test_beta').settings).toMatchObject({
    webhook_secret: 'own',
    gateways: ['bitcoin'],
  });
  await second.close();
});

test('after a restart, waiting webhooks are sent in the order of the changes', async () => {
  const listener = await startListener();
  onTestFinished(() => listener.close());
  listener.answer('hang');
  const first = open();
  const { client, account } = await sell(first);
  const events = ['order:created', 'order:updated', 'order:paid'] as const;
  await client.webhookEndpoints.create({ url: listener.url, events });
  const product = await client.products.create(TUNER);
  const { id } = await account.buy({ product_id: product.id, gateway: 'paypal' });
  await account.pay(id);
  await vi.waitFor(() => expect(listener.events()).toEqual(['order:created']));
  await first.close();

  listener.answer(200);
  const second = open();
  await second.account('sk_test_alpha').idle();
  const [created, updated, paid] = events;
  expect(listener.events().slice(1)).toEqual([created, updated, updated, paid]);
  await second.close();
});

test('a sandbox can be closed more than once', async () => {
  const sandbox = open();
  await Promise.all([sandbox.close(), sandbox.close()]);
  await sandbox.close();
  await open().close();
});

describe('opening a file fails', () => {
  const refused = (message: RegExp) =>
    expect(() => open()).toThrow(
      expect.objectContaining({ code: 'option_invalid', message: expect.stringMatching(message) }),
    );

  test('if another sandbox has it open', async () => {
    const first = open();
    refused(/no other sandbox may have it open/);
    await first.close();
    await open().close();
  });

  test('if it is not an SQLite database', () => {
    writeFileSync(
      file.db,
      'not a database, but text that is long enough to be looked at as one'.repeat(20),
    );
    refused(/cannot be used/);
  });

  test('if it has another version', () => {
    const connection = openSqlite(file.db);
    connection?.exec('PRAGMA user_version = 99');
    connection?.close();
    refused(/another version of the sandbox\. Delete it/);
  });

  test('if its folder does not exist', () => {
    file.db = join(file.folder, 'none', 'shop.db');
    refused(/cannot be used/);
  });
});

test('a transaction writes all of its changes or none', () => {
  const journal = openJournal(file.db);
  const change = { account: 'a', kind: 'notes', place: 1, value: { id: '1' } };
  const wrong = {
    ...change,
    place: 2,
    value: {
      toJSON: () => {
        throw new Error('no');
      },
    },
  };
  expect(() => journal?.write([change, wrong])).toThrow('no');
  expect(journal?.load('a')).toEqual([]);
  journal?.write([change]);
  expect(journal?.load('a')).toEqual([{ kind: 'notes', place: 1, value: { id: '1' } }]);
  journal?.close();
});
