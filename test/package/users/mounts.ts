// Uses every subpath as a user would. Compiled in this repository, and against the packed package.
import http from 'node:http';
import type {
  ALBHandler,
  APIGatewayProxyEventV2,
  APIGatewayProxyHandler,
  APIGatewayProxyStructuredResultV2,
  Handler,
  LambdaFunctionURLHandler,
} from 'aws-lambda';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import {
  createReceiver,
  type HandOff,
  type IdempotencyStore,
  type Order,
  orderStatusLabel,
  UsageError,
} from 'storefront-webhooks';
import { ApiError, type Client, createClient, type List, type Page } from 'storefront-webhooks/api';
import {
  type BullmqJob,
  type BullmqQueue,
  bullmqQueue,
  bullmqWorker,
} from 'storefront-webhooks/bullmq';
import {
  cloudflareQueue,
  cloudflareWorker,
  type D1Client,
  type DeliveriesNamespace,
  d1Ledger,
  d1Schema,
  d1Store,
  durableObjectStore,
  type QueueBinding,
  WebhookDeliveries,
} from 'storefront-webhooks/cloudflare';
import { toExpress } from 'storefront-webhooks/express';
import { toFastify } from 'storefront-webhooks/fastify';
import { toFetch } from 'storefront-webhooks/fetch';
import { createGoods, type GoodsOrder, hasToken } from 'storefront-webhooks/goods';
import { toHono } from 'storefront-webhooks/hono';
import { toKoa } from 'storefront-webhooks/koa';
import { toLambda } from 'storefront-webhooks/lambda';
import { toNext } from 'storefront-webhooks/next';
import { toNextPages } from 'storefront-webhooks/next-pages';
import { toNodeHandler } from 'storefront-webhooks/node';
import { openTelemetry } from 'storefront-webhooks/opentelemetry';
import { type Boss, pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import {
  type Pglite,
  type PostgresClient,
  type PostgresLedger,
  postgresLedger,
  postgresSchema,
  postgresStore,
} from 'storefront-webhooks/postgres';
import { type Recovered, recover } from 'storefront-webhooks/recovery';
import { type RedisClient, redisStore } from 'storefront-webhooks/redis';
import {
  type SqliteDatabase,
  type SqliteLedger,
  sqliteLedger,
  sqliteSchema,
  sqliteStore,
} from 'storefront-webhooks/sqlite';
import { loadFixture, type ReplayResult, replay } from 'storefront-webhooks/testing';
import { toWorker } from 'storefront-webhooks/workers';

interface Env {
  SECRET: string;
}

const secret = process.env.WEBHOOK_SECRET;
const make = async (): Promise<typeof receiver> => receiver;

const receiver = createReceiver({ secret })
  .onPaid(({ payload: order }) => deliver(order))
  .on('order:paid', ({ payload }) => deliver(payload), {
    name: 'order:paid',
    oncePer: ({ id }) => id,
  })
  .onInvalid(({ issues }) => issues.map(({ message }) => message));

function deliver({ email, status }: Order): string {
  return `${email}: ${orderStatusLabel(status)}`;
}

export const expressApp = express();
expressApp.post('/webhooks', toExpress(receiver));
expressApp.use('/webhooks', toExpress(make));
express.Router().post('/webhooks', toExpress(receiver));

export const fastifyApp = Fastify();
fastifyApp.register(toFastify(receiver), { prefix: '/webhooks' });

export const handle: (request: Request) => Promise<Response> = toFetch(receiver);

export const honoApp = new Hono<{ Bindings: Env }>();
honoApp.post('/webhooks', toHono(receiver));
honoApp.all(
  '/others',
  toHono(({ SECRET }: Env) => createReceiver({ secret: SECRET })),
);

export const koaApp = new Koa();
koaApp.use(toKoa(receiver));

export const rest: APIGatewayProxyHandler = toLambda(receiver);
export const functionUrl: LambdaFunctionURLHandler = toLambda(receiver);
export const loadBalancer: ALBHandler = toLambda(make);
export const handler: Handler<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> =
  toLambda(receiver);

export const POST = toNext(() => receiver);

export const config = { api: { bodyParser: false } };
export const pagesRoute = toNextPages(() => receiver);

export const listener = toNodeHandler(receiver);
export const server = http.createServer(listener);
export const expressHandler = toExpress(receiver);
export const honoHandler = toHono(receiver);
export const koaMiddleware = toKoa(receiver);
new Hono().post('/webhooks', honoHandler);

export async function tested(): Promise<string | undefined> {
  const { outcome }: ReplayResult = await replay(receiver, loadFixture('order:paid'));
  const overHttp = await replay(server, 'order:paid', { secret: 'a secret for tests' });
  await replay(expressApp, 'order:paid', { secret: 'a secret for tests' });
  await replay(fastifyApp, 'order:paid', { secret: 'a secret for tests' });
  await replay(honoApp, 'order:paid', { secret: 'a secret for tests' });
  await replay(koaApp, 'order:paid', { secret: 'a secret for tests' });
  await replay(handle, 'order:paid', { secret: 'a secret for tests' });
  return outcome ?? overHttp.outcome;
}

const goods = createGoods({ secret }, async ({ id }: GoodsOrder, { key }) => `${id}: ${key}`);
const bytes = createGoods(
  { verify: { signed: false, allow: hasToken(process.env.GOODS_TOKEN) } },
  () => ({ body: new Uint8Array(1), contentType: 'application/zip' }),
);

/** Goods are mounted like a receiver in each framework. */
export const goodsMounted = [
  toExpress(goods),
  toFastify(bytes),
  toFetch(async () => goods),
  toHono(() => bytes),
  toKoa(goods),
  toLambda(goods),
  toNext(() => goods),
  toNextPages(() => bytes),
  toNodeHandler(goods),
  toWorker((env: Env) => createGoods({ secret: env.SECRET }, () => 'KEY')),
];

export async function testedGoods(): Promise<Uint8Array> {
  return (await replay(goods, 'goods')).bytes;
}

/** The provider's API in both variants. */
export async function called(older: Client<'older'>) {
  const auth = { accessToken: process.env.ACCESS_TOKEN };
  const newer = createClient({ baseUrl: 'https://shop.example', auth });
  const orders: List<Order> = newer.orders.list({ perPage: 50 });
  const { items, totalPages }: Page<Order> = await orders;
  for await (const { id } of older.webhookLogs.list()) if (id === items[0]?.id) break;
  const kind: string | undefined = (await newer.products.get('prd_1')).product_type;
  const code: number | undefined = (await older.products.get('prd_1')).product_type;
  const error: unknown = await older.products.delete('prd_1').catch((error: unknown) => error);
  return { kind, code, totalPages, status: error instanceof ApiError && error.status };
}

export function isOurs(error: unknown): error is UsageError {
  return error instanceof UsageError && error.code === 'secret_invalid';
}

export async function recovered(client: Client, older: Client<'older'>): Promise<Recovered[]> {
  const url = 'https://shop.example/webhooks';
  const { deliveries } = await recover({ receiver, client, url, since: new Date(0) });
  const again = await recover({ receiver, client: older, url, apply: true });
  return [...deliveries, ...again.deliveries].filter(({ outcome }) => outcome === 'failed');
}

export default toWorker((env: Env) => createReceiver({ secret: env.SECRET }));

/** Stores and ledgers accept clients by their shape, so no driver is a dependency. */
export async function stores(database: SqliteDatabase, pool: PostgresClient, redis: RedisClient) {
  const all: IdempotencyStore[] = [sqliteStore(database), postgresStore(pool), redisStore(redis)];
  for (const store of all) createReceiver({ secret, store });
  const schemas: string[] = [sqliteSchema(), postgresSchema()];
  const effect = { key: '', handler: '' };
  const isNew: boolean = sqliteLedger().once(database, effect);
  return { schemas, areNew: [isNew, await postgresLedger(pool).once(pool, effect)] };
}

export function inPglite(database: Pglite<PostgresClient>, ledger: PostgresLedger) {
  return ledger.transaction(database, { key: '', handler: '' }, async (tx) => tx);
}

export function inSqlite(database: SqliteDatabase, ledger: SqliteLedger): Promise<boolean> {
  return ledger.transaction(database, { key: '', handler: '' }, (tx) => tx.exec('SELECT 1'));
}

export class Deliveries extends WebhookDeliveries {}

export async function onCloudflare(namespace: DeliveriesNamespace, d1: D1Client, to: QueueBinding) {
  const queue: HandOff = cloudflareQueue(to, { large: d1 });
  createReceiver({ secret, queue, store: durableObjectStore(namespace, { shards: 64 }) });
  createReceiver({ secret, queue, store: d1Store(d1) });
  const isNew: boolean = await d1Ledger(d1).batch({ key: '', handler: '' }, [d1.prepare('')]);
  return { isNew, schema: d1Schema() };
}

export const consumer = cloudflareWorker(receiver, { queue: 'webhooks', deadLetterQueue: 'dead' });

export async function queues(bullmq: BullmqQueue, job: BullmqJob, boss: Boss) {
  const all: HandOff[] = [bullmqQueue(bullmq), pgBossQueue(boss, { name: 'webhooks' })];
  for (const queue of all) createReceiver({ secret, queue, telemetry: openTelemetry() });
  await pgBossWorker(boss, receiver, { concurrency: 2 });
  return bullmqWorker(receiver)(job);
}
