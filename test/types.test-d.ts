// The promises of the types. `npx tsc` compiles this file and never runs it: each `@ts-expect-error` below is an
// error that an editor has to show, and each assertion a type that it has to know.
import type { PGlite, Transaction } from '@electric-sql/pglite';
import type BetterSqlite3 from 'better-sqlite3';
import type pg from 'pg';
import type postgres from 'postgres';
import {
  createReceiver,
  type Handler,
  type HandlerOptions,
  type IdempotencyStore,
  isOlderProduct,
  isPaid,
  type Json,
  type JsonObject,
  memoryStore,
  type NewerProduct,
  type OlderProduct,
  type Order,
  type OrderStatus,
  type Product,
  type Receiver,
  type ReceiverOptions,
  type ScopedSecret,
  verifySignature,
  type WebhookEvent,
} from 'storefront-webhooks';
import type { Client } from 'storefront-webhooks/api';
import { createGoods, type GoodsOrder } from 'storefront-webhooks/goods';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
import { type SqliteDatabase, sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';
import { loadFixture, type ReplayResult, replay } from 'storefront-webhooks/testing';
import * as z from 'zod';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if the two types are the same. */
declare function same<A, B>(proof: Equal<A, B>): void;
declare const order: Order;
declare const product: Product;
declare const bytes: Uint8Array;

const secret = 'a secret for tests';
const receiver = createReceiver({ secret });

export function namesAreTypedWithTypedOptions(
  options: ReceiverOptions,
  { store, ...rest }: Partial<ReceiverOptions>,
  some: Omit<ReceiverOptions, 'secret'>,
) {
  createReceiver(options).onPaid(({ payload }) => payload.email);
  createReceiver({ secret, ...rest, ...(store && { store }) }).onPaid(() => {});
  createReceiver({ ...some, secret }).on('order:paid', ({ payload }) => payload.email);
  // @ts-expect-error a misspelt event
  createReceiver(options).on('order:piad', () => {});
  // @ts-expect-error a misspelt event
  createReceiver({ secret, ...rest }).on('order:piad', () => {});
  const events = { 'own:event': z.object({ n: z.number() }) };
  const own: ReceiverOptions<typeof events> = { secret, events };
  createReceiver(own).on('own:event', ({ payload }) => payload.n.toFixed());
  const other = { 'order:paid': z.object({ n: z.number() }) };
  // @ts-expect-error schemas of one's own without their type: the payloads would have the specification's types
  const untyped: ReceiverOptions = { secret, events: other };
  // @ts-expect-error the same
  const lost: ReceiverOptions = own;
  return [untyped, lost];
}

export function namesAreTyped() {
  receiver
    .on('order:paid', () => {})
    .on('order:*', () => {})
    .on('*', () => {});
  receiver.on(['order:paid', 'query:*'], () => {}, { name: 'notify' });
  // @ts-expect-error a misspelt event
  receiver.on('order:piad', () => {});
  // @ts-expect-error a misspelt family
  receiver.on('orders:*', () => {});
  // @ts-expect-error a misspelt event in a list
  receiver.on(['order:paid', 'query:repied'], () => {});
  // @ts-expect-error a prefix is not a pattern
  receiver.on('order:', () => {});
  // @ts-expect-error a handler is missing
  receiver.on('order:paid');
  // @ts-expect-error a handler is a function
  receiver.on('order:paid', { handle() {} });
  // @ts-expect-error a misspelt option
  receiver.on('order:paid', () => {}, { nmae: 'deliver' });
}

export function payloadsAreTyped() {
  receiver.on('order:paid', (delivery) => {
    same<typeof delivery, WebhookEvent<'order:paid', Order>>(true);
    const { payload } = delivery;
    same<typeof payload, Order>(true);
    same<typeof payload.id, string>(true);
    same<typeof payload.email, string>(true);
    same<typeof payload.value, string | undefined>(true);
    same<typeof payload.delivered, string | null | undefined>(true);
    same<typeof payload.quantity, number | undefined>(true);
    same<typeof payload.custom, Json | undefined>(true);
    same<typeof payload.product_id, string | null | undefined>(true);
    // @ts-expect-error a misspelt field
    payload.emial;
    // @ts-expect-error it may be undefined
    payload.value.length;
    // @ts-expect-error it is text, not a number
    payload.exchange_rate * 2;
  });
  receiver.on('query:replied', ({ payload }) => {
    same<typeof payload, JsonObject>(true);
    // @ts-expect-error its content is unknown
    payload.email.length;
  });
  const deliver: Handler<WebhookEvent<'order:paid', Order>> = () => {};
  receiver.on('order:paid', deliver);
  // @ts-expect-error a query is not an order
  receiver.on('query:created', deliver);
}

export function severalEventsNarrow() {
  receiver.on('order:*', ({ event, payload }) => {
    same<typeof event, 'order:created' | 'order:paid' | 'order:updated'>(true);
    same<typeof payload, Order>(true);
  });
  receiver.on(['order:paid', 'query:replied'], (delivery) => {
    same<typeof delivery.event, 'order:paid' | 'query:replied'>(true);
    same<typeof delivery.payload, Order | JsonObject>(true);
    if (delivery.event === 'order:paid') same<typeof delivery.payload, Order>(true);
    else same<typeof delivery.payload, JsonObject>(true);
  });
  receiver.on('*', ({ event, payload }) => {
    switch (event) {
      case 'order:created':
      case 'order:paid':
      case 'order:updated':
        return same<typeof payload, Order>(true);
      case 'feedback:created':
      case 'feedback:updated':
      case 'product:out_of_stock':
      case 'query:created':
      case 'query:replied':
      case 'query:updated':
        return same<typeof payload, JsonObject>(true);
      // @ts-expect-error a misspelt case
      case 'order:piad':
        return undefined;
    }
    // The cases cover every known event.
    return same<typeof event, never>(true);
  });
  receiver.onUnknown(({ event, payload }) => {
    same<typeof event, string>(true);
    same<typeof payload, unknown>(true);
  });
  receiver.onInvalid(({ payload, issues }) => {
    same<typeof payload, unknown>(true);
    same<(typeof issues)[number]['path'], string>(true);
  });
}

export function ownEventsAreTyped() {
  const own = createReceiver({
    secret,
    events: {
      'query:replied': z.object({ id: z.string(), at: z.string().transform((at) => new Date(at)) }),
      'subscription:renewed': z.object({ months: z.number().default(1) }),
    },
  });
  own.on('query:replied', ({ payload }) => same<typeof payload, { id: string; at: Date }>(true));
  own.on('subscription:renewed', ({ payload }) => same<typeof payload, { months: number }>(true));
  own.on('subscription:*', ({ event }) => same<typeof event, 'subscription:renewed'>(true));
  own.on('order:paid', ({ payload }) => same<typeof payload, Order>(true));
  own.on('*', ({ event, payload }) => {
    if (event === 'subscription:renewed') same<typeof payload, { months: number }>(true);
  });
  own.on('subscription:renewed', () => {}, { name: 'a', oncePer: ({ months }) => `${months}` });
  // @ts-expect-error an unknown event
  own.on('subscription:ended', () => {});
  // @ts-expect-error the other receiver does not know it
  receiver.on('subscription:renewed', () => {});
  // @ts-expect-error not a schema
  createReceiver({ secret, events: { 'query:replied': { parse: () => ({}) } } });
}

export function paidOrdersAreTyped(pool: pg.Pool, sqlite: BetterSqlite3.Database) {
  receiver.onPaid((delivery) => {
    same<typeof delivery.event, 'order:created' | 'order:paid' | 'order:updated'>(true);
    same<typeof delivery.payload, Order>(true);
    // @ts-expect-error a misspelled field
    delivery.payload.emial;
    // @ts-expect-error no transaction
    delivery.tx;
  });
  same<typeof receiver, ReturnType<typeof receiver.onPaid>>(true);
  receiver
    .onPaid(async ({ payload: { email } }) => email)
    .on('order:*', () => {})
    .onPaid(() => {}, { name: 'mail', formerly: 'receipt' });
  const deliver: Handler<WebhookEvent<string, Order>> = () => {};
  receiver.onPaid(deliver, { name: 'deliver', transaction: false });
  createReceiver({ secret, store: postgresStore(pool) }).onPaid(
    async ({ tx, payload }) => {
      same<typeof tx, pg.PoolClient>(true);
      same<typeof payload, Order>(true);
      await tx.query('SELECT $1', [payload.id]);
    },
    { transaction: true },
  );
  createReceiver({ secret, store: sqliteStore(sqlite) }).onPaid(
    ({ tx }) => void same<typeof tx, BetterSqlite3.Database>(true),
    { name: 'deliver', transaction: true },
  );
  // The store has no transactions, so the client has no type, as for `on`.
  receiver.onPaid(({ tx }) => void same<typeof tx, unknown>(true), { transaction: true });
  receiver.on('order:paid', ({ tx }) => void same<typeof tx, unknown>(true), { transaction: true });
  // @ts-expect-error a handler is missing
  receiver.onPaid();
  // @ts-expect-error its events are fixed
  receiver.onPaid('order:paid', () => {});
  // @ts-expect-error its condition is fixed
  receiver.onPaid(() => {}, { when: isPaid });
  // @ts-expect-error its key is fixed
  receiver.onPaid(() => {}, { oncePer: (order: Order) => order.id });
  // @ts-expect-error work that happens once has no newer state
  receiver.onPaid(() => {}, { skipOlder: true });
  // @ts-expect-error a misspelled option
  receiver.onPaid(() => {}, { nmae: 'deliver' });
  const kept = z.object({ id: z.string(), status: z.number(), gift: z.boolean() });
  createReceiver({ secret, events: { 'order:paid': kept } }).onPaid(({ event, payload }) => {
    same<typeof payload.id, string>(true);
    if (event === 'order:paid') same<typeof payload.gift, boolean>(true);
  });
  const lost = z.object({ id: z.string(), gift: z.boolean() });
  // @ts-expect-error a schema that removes the status
  createReceiver({ secret, events: { 'order:paid': lost } }).onPaid(() => {});
}

export function skipOlderIsForMirrors() {
  receiver.on('order:*', () => {}, { skipOlder: true });
  receiver.on(['order:paid', 'query:*'], () => {}, { name: 'mirror', skipOlder: true });
  // @ts-expect-error not both
  receiver.on('order:paid', () => {}, { name: 'a', skipOlder: true, oncePer: () => 'key' });
  // @ts-expect-error not a boolean
  receiver.on('order:*', () => {}, { skipOlder: 'yes' });
}

export function oncePerIsForExactEvents() {
  // @ts-expect-error a name is missing
  receiver.on('order:paid', () => {}, { oncePer: (payload: Order) => payload.id });
  receiver.on('order:paid', () => {}, { name: 'a', oncePer: (payload) => payload.id });
  receiver.on('order:paid', () => {}, {
    name: 'deliver',
    oncePer(payload) {
      same<typeof payload, Order>(true);
      return payload.id;
    },
  });
  // @ts-expect-error a family
  receiver.on('order:*', () => {}, { name: 'a', oncePer: (payload: Order) => payload.id });
  // @ts-expect-error everything
  receiver.on('*', () => {}, { name: 'a', oncePer: () => 'key' });
  receiver.on(['order:paid', 'order:updated'], ({ event }) => same<typeof event, Both>(true), {
    name: 'both',
    oncePer(payload) {
      same<typeof payload, Order>(true);
      return payload.id;
    },
  });
  receiver.on(['order:paid', 'query:created'], () => {}, {
    name: 'mixed',
    oncePer(payload) {
      same<typeof payload, Order | JsonObject>(true);
      return `${payload.id}`;
    },
  });
  // @ts-expect-error a family in a list
  receiver.on(['order:paid', 'query:*'], () => {}, { name: 'a', oncePer: () => 'key' });
  // @ts-expect-error a key is text
  receiver.on('order:paid', () => {}, { name: 'a', oncePer: () => 7 });
  // @ts-expect-error it may be undefined
  receiver.on('order:paid', () => {}, { name: 'a', oncePer: (payload) => payload.product_id });
  // @ts-expect-error a misspelt field
  receiver.on('order:paid', () => {}, { name: 'a', oncePer: (payload) => payload.idd });
  // @ts-expect-error a key has to be synchronous
  receiver.on('order:paid', () => {}, { name: 'a', oncePer: async (payload) => payload.id });
}

type Both = 'order:paid' | 'order:updated';

export function whenIsAskedOfThePayload() {
  receiver.on(['order:paid', 'order:updated'], () => {}, { name: 'a', when: isPaid });
  receiver.on(['order:paid', 'order:updated'], () => {}, {
    name: 'both',
    when: isPaid,
    oncePer: (payload) => payload.id,
  });
  receiver.on('order:*', () => {}, { when: isPaid });
  receiver.on('order:paid', () => {}, {
    when(payload, { event, paidStatuses }) {
      same<typeof payload, Order>(true);
      same<typeof event, string>(true);
      same<typeof paidStatuses, readonly OrderStatus[]>(true);
      return true;
    },
  });
  receiver.on(['order:*', 'query:created'], () => {}, {
    when(payload) {
      same<typeof payload, Order | JsonObject>(true);
      return true;
    },
  });
  // @ts-expect-error a query may have no status
  receiver.on('query:created', () => {}, { when: isPaid });
  // @ts-expect-error of all events, only orders have a status
  receiver.on('*', () => {}, { when: isPaid });
  // @ts-expect-error the answer has to be synchronous
  receiver.on('order:paid', () => {}, { when: async () => true });
  // @ts-expect-error the answer has to be a boolean
  receiver.on('order:paid', () => {}, { when: (payload) => payload.email });
  const forAll: HandlerOptions = { name: 'all', when: (_, { event }) => event !== 'order:created' };
  receiver.on('order:*', () => {}, forAll);
  same<ReturnType<typeof isPaid>, boolean>(true);
  return isPaid(order) || isPaid(order, { paidStatuses: [100, 54] });
}

export function stepsGiveJson() {
  receiver.on('order:paid', async ({ once, payload }) => {
    const invoice = await once('invoice', async () => ({ id: 'inv_1', lines: [1, null, 'x'] }));
    same<typeof invoice, { id: string; lines: (string | number | null)[] }>(true);
    const count = await once('count', () => payload.quantity ?? 1);
    same<typeof count, number>(true);
    const json: Json = await once('json', (): Json => [payload.email]);
    const viaInterface: Invoice = await once('interface', makeInvoice);
    JSON.stringify(viaInterface);
    const nothing = await once('mail', async () => {});
    same<typeof nothing, void>(true);
    const perhaps = await once('perhaps', () => (json ? 'yes' : undefined));
    same<typeof perhaps, 'yes' | undefined>(true);
    const found = await once('found', () => findInvoice(payload.id));
    same<typeof found, Invoice | null>(true);
    const soon = await once('soon', async () => (json ? findInvoice('') : undefined));
    same<typeof soon, Invoice | null | undefined>(true);
    const row = await once('row', async (): Promise<Row | null> => null);
    same<typeof row, Row | null>(true);
    const parsed = await once('parsed', (): Promise<unknown> => Promise.resolve(json));
    same<typeof parsed, unknown>(true);
    // @ts-expect-error a Date would be restored as text
    await once('date', () => new Date());
    // @ts-expect-error nor is it, perhaps, one
    await once('perhaps a date', async (): Promise<Date | null> => null);
    // @ts-expect-error an Error would be restored empty
    await once('error', () => new Error(payload.id));
    // @ts-expect-error a Map would be restored empty
    await once('map', async () => new Map([['a', 1]]));
    // @ts-expect-error JSON has no bigint
    await once('bigint', () => 1n);
    // @ts-expect-error JSON has no functions
    await once('function', () => () => {});
    // @ts-expect-error a step has a name
    await once(() => 1);
  });
}

export function stepsGiveRecordsOfThisPackage(client: Client) {
  receiver.onPaid(async ({ once, payload }) => {
    const paid = await once('payload', () => payload);
    same<typeof paid, Order>(true);
    const fetched = await once('order', () => client.orders.get(payload.id));
    same<typeof fetched, Order>(true);
    await once('part', async () => ({ custom: payload.custom, id: payload.id }));
    await once('product', () => client.products.get(''));
    await once('log', () => client.webhookLogs.get(''));
  });
  receiver.on('feedback:*', ({ once, payload }) => once('feedback', () => payload));
}

export function optionsAreTyped() {
  createReceiver({ secret: process.env.WEBHOOK_SECRET });
  createReceiver({ secret: undefined });
  createReceiver({ secret: bytes });
  createReceiver({ secret: ['new', bytes] });
  createReceiver({ secret: async ({ url }) => (url ? { secret, scope: 'shop' } : null) });
  const { NEW_SECRET, OLD_SECRET } = process.env;
  createReceiver({ secret: () => ({ secret: [NEW_SECRET, OLD_SECRET], scope: 'shop' }) });
  const shop: ScopedSecret = { secret: ['new', bytes], scope: 'shop' };
  createReceiver({ secret: async () => shop });
  verifySignature(bytes, 'ab12', shop.secret);
  createReceiver({ secret, store: memoryStore(), keyBy: 'content', paidStatuses: [100, 60] });
  // @ts-expect-error the secret is missing
  createReceiver({});
  // @ts-expect-error null is not an environment variable
  createReceiver({ secret: null });
  // @ts-expect-error the scope is missing
  createReceiver({ secret: () => ({ secret }) });
  // @ts-expect-error a misspelt mode
  createReceiver({ secret, keyBy: 'contents' });
  // @ts-expect-error a misspelt option
  createReceiver({ secret, headersPrefix: 'X-Shop-' });
  const kv = { get: async (_: string) => '', put: async (_: string, __: string) => {} };
  // @ts-expect-error a store with only get and put cannot grant an exclusive claim
  createReceiver({ secret, store: kv });
  // @ts-expect-error neither can a Map
  createReceiver({ secret, store: new Map() });
}

export function statusIsOpen() {
  same<Order['status'], OrderStatus>(true);
  const added: OrderStatus = 60;
  const known: OrderStatus = 100;
  const text: OrderStatus = 'COMPLETED';
  // @ts-expect-error it may be text, which cannot be compared with a number
  const above = order.status > 56;
  return [added, known, text, above, order.status === 51, order.status === 60];
}

export function variantsNarrow() {
  same<typeof product.stock, number | '∞' | undefined>(true);
  same<typeof product.price, string | undefined>(true);
  // @ts-expect-error only of the newer variant
  product.hide_stock;
  if (isOlderProduct(product)) {
    same<typeof product, OlderProduct>(true);
    same<typeof product.theme, number | undefined>(true);
    // @ts-expect-error only of the newer variant
    product.warranty;
  } else {
    same<typeof product, NewerProduct>(true);
    same<typeof product.theme, string | undefined>(true);
  }
}

export function signaturesAreOfBytes(header: string | null | undefined) {
  same<ReturnType<typeof verifySignature>, boolean>(true);
  verifySignature(bytes, header, secret);
  verifySignature('{}', header, [secret, bytes]);
  // @ts-expect-error a parsed body
  verifySignature({ id: 'ord_1' }, header, secret);
  // @ts-expect-error an order is a parsed body, too
  verifySignature(order, header, secret);
  // @ts-expect-error a repeated header
  verifySignature(bytes, ['a', 'b'], secret);
  // @ts-expect-error a secret may be undefined
  verifySignature(bytes, header, process.env.WEBHOOK_SECRET);
}

export async function replaysAreTyped() {
  const one = await replay(receiver, 'order:paid', { id: 'fresh' });
  same<typeof one, ReplayResult>(true);
  const saved = await replay(receiver, loadFixture('order:paid'));
  same<typeof saved, ReplayResult>(true);
  const list = await replay(receiver, ['order:paid'], { shuffle: 1, concurrency: 2 });
  same<typeof list, ReplayResult[]>(true);
  const twice = await replay(receiver, 'order:paid', { duplicate: 2 });
  same<typeof twice, ReplayResult[]>(true);
  await replay(new URL('http://127.0.0.1/webhooks'), 'order:paid', { secret });
  // @ts-expect-error not a target
  await replay(7, 'order:paid');
  // @ts-expect-error a misspelt option
  await replay(receiver, 'order:paid', { duplicates: 2 });
  same<typeof receiver, Receiver>(true);
}

interface Invoice {
  number: number;
  lines: { text: string; note?: string }[];
}

declare function makeInvoice(): Promise<Invoice>;
/** As drivers and SDKs type their answers. */
interface Row {
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: others have such types.
  data: any;
}

declare function findInvoice(id: string): Promise<Invoice | null>;

export function databasesAreTakenAsTheyAre(better: BetterSqlite3.Database, transaction: object) {
  sqliteStore(better);
  if (sqliteLedger().once(better, { key: '', handler: '' })) return;
  receiver.on('order:paid', (event) => {
    same<string, typeof event.key>(true);
    sqliteLedger().once(better, event);
  });
  receiver.on('order:updated', async (event) => {
    const isNew = await sqliteLedger().transaction(better, event, (tx) => {
      same<typeof tx, BetterSqlite3.Database>(true);
      tx.prepare('UPDATE stock SET pieces = pieces - 1').run();
    });
    same<typeof isNew, boolean>(true);
  });
  same<SqliteDatabase, Parameters<typeof sqliteStore>[0]>(true);
  // @ts-expect-error an object that cannot prepare a statement
  sqliteStore(transaction);
}

export function goodsAreTyped() {
  createGoods({ secret }, async (order, { key, once, signal }) => {
    same<typeof order, GoodsOrder>(true);
    same<typeof order.id, string>(true);
    // An optional field.
    same<typeof order.email, string | undefined>(true);
    same<typeof signal, AbortSignal>(true);
    return once(key, () => 'KEY');
  });
  createGoods({ secret }, () => bytes);
  createGoods({ secret }, () => ({ body: bytes, contentType: 'application/zip' }));
  createGoods({ verify: { signed: false, allow: async ({ id }) => id === 'ord_1' } }, () => 'KEY');
  // @ts-expect-error the function is missing
  createGoods({ secret });
  // @ts-expect-error it may return nothing
  createGoods({ secret }, ({ email }) => email);
  // @ts-expect-error goods cannot be an object
  createGoods({ secret }, () => ({ key: 'KEY' }));
  // @ts-expect-error a misspelt field
  createGoods({ secret }, (order) => order.emial);
  // @ts-expect-error goods have no queue
  createGoods({ secret, queue: undefined }, () => 'KEY');
  // @ts-expect-error a text is not a response
  createGoods({ verify: { signed: false, allow: () => 'yes' } }, () => 'KEY');
}

export async function aTransactionIsOfItsDriver(
  pool: pg.Pool,
  client: pg.Client,
  sql: postgres.Sql<{ point: [number, number] }>,
  lite: PGlite,
) {
  const ledger = postgresLedger(pool);
  const effect = { key: '', handler: '' };
  await ledger.transaction(pool, effect, async (tx) => {
    same<typeof tx, pg.PoolClient>(true);
    const { rows } = await tx.query<{ pieces: number }>('SELECT pieces FROM stock');
    same<typeof rows, { pieces: number }[]>(true);
  });
  await ledger.transaction(sql, effect, async (tx) => {
    same<typeof tx, postgres.TransactionSql<{ point: [number, number] }>>(true);
    await tx`UPDATE stock SET pieces = pieces - ${1}`;
  });
  const isNew = await ledger.transaction(lite, effect, async (tx) => {
    same<typeof tx, Transaction>(true);
    await tx.sql`UPDATE stock SET pieces = pieces - ${1}`;
  });
  same<typeof isNew, boolean>(true);
  // @ts-expect-error a single client
  await ledger.transaction(client, effect, async () => {});
  // @ts-expect-error work that cannot be awaited
  await ledger.transaction(pool, effect, (tx) => {
    tx.release();
  });
}

export function txIsThatOfTheStore(
  pool: pg.Pool,
  sql: postgres.Sql,
  pglite: PGlite,
  sqlite: BetterSqlite3.Database,
) {
  const options = { name: 'a', oncePer: (order: Order) => order.id, transaction: true } as const;
  const withStore = <Tx>(store: IdempotencyStore<Tx>) => createReceiver({ secret: '', store });
  withStore(postgresStore(pool)).on(
    'order:paid',
    async ({ tx, payload }) => {
      same<typeof tx, pg.PoolClient>(true);
      await tx.query('SELECT $1', [payload.id]);
    },
    { name: 'b', oncePer: (order) => order.id, transaction: true },
  );
  withStore(postgresStore(sql)).on(
    'order:paid',
    async ({ tx }) => void (await tx`SELECT 1`),
    options,
  );
  withStore(postgresStore(pglite)).on(
    'order:paid',
    async ({ tx }) => same<typeof tx, Transaction>(true),
    options,
  );
  withStore(sqliteStore(sqlite)).on('order:paid', ({ tx }) => void tx.prepare('').run(), options);
  // @ts-expect-error: a handler without the option has no transaction.
  withStore(postgresStore(pool)).on('order:paid', ({ tx }) => tx);
}
