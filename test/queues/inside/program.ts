/**
 * A web process, which prints its address, or a worker, of the queue NAME of the ENGINE. Either process
 * dies at the point DEATH.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createReceiver } from 'storefront-webhooks';
import { bullmqQueue, bullmqWorker } from 'storefront-webhooks/bullmq';
import { toNodeHandler } from 'storefront-webhooks/node';
import { pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { postgresStore } from 'storefront-webhooks/postgres';
import { redisStore } from 'storefront-webhooks/redis';
import { SECRET } from '../deliveries.js';
import { type BossVersion, newBoss } from '../pg-boss/bosses.js';
import { deadlyQueue, openShop } from './shop.js';

const { ROLE, ENGINE, NAME = '', REDIS_PORT, DATABASE_URL = '', DEATH = '' } = process.env;
const connection = { host: '127.0.0.1', port: Number(REDIS_PORT) };

async function openBoss() {
  const version: BossVersion = ENGINE === 'pg-boss 10' ? 10 : 12;
  const boss = await newBoss(version, DATABASE_URL);
  await boss.start();
  return boss;
}

async function serve(): Promise<void> {
  const real =
    ENGINE === 'BullMQ'
      ? bullmqQueue(new Queue(NAME, { connection }))
      : pgBossQueue(await openBoss(), { name: NAME });
  const receiver = createReceiver({ secret: SECRET, queue: deadlyQueue(real, DEATH) });
  const server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    console.log(`http://127.0.0.1:${port}`);
  });
}

async function work(): Promise<void> {
  const pool = new pg.Pool({ connectionString: DATABASE_URL });
  pool.on('error', () => {});
  if (ENGINE === 'BullMQ') {
    const shop = openShop(NAME, redisStore(new Redis(connection)), pool, DEATH);
    // A dead worker is noticed soon.
    const quick = { lockDuration: 1_000, stalledInterval: 500 };
    new Worker(NAME, bullmqWorker(shop), { connection, ...quick });
  } else {
    const shop = openShop(NAME, postgresStore(pool), pool, DEATH);
    await pgBossWorker(await openBoss(), shop, { name: NAME, pollingIntervalSeconds: 0.5 });
  }
}

await (ROLE === 'web' ? serve() : work());
