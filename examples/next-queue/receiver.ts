import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createReceiver, type Order } from 'storefront-webhooks';
import { bullmqQueue } from 'storefront-webhooks/bullmq';
import { postgresStore } from 'storefront-webhooks/postgres';

// A build has no secrets and must not connect. So the route and the worker each call this function once, when
// they start, and `recover --receiver receiver.ts` does so, too.
export function makeReceiver() {
  const secret = process.env.WEBHOOK_SECRET;
  // Check it before anything connects: after an error, the route calls this function again for each request.
  if (!secret) throw new Error('Set WEBHOOK_SECRET to the webhook secret of your account.');
  const pool = new pg.Pool({
    connectionString: process.env.DATABASE_URL,
    query_timeout: 5000,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  const redis = new Redis(process.env.REDIS_URL ?? 'redis://localhost:6379', {
    maxRetriesPerRequest: 1,
    socketTimeout: 5000,
    // Leaves a server that has become a replica.
    reconnectOnError: (error) => /\b(READONLY|UNBLOCKED)\b/.test(error.message),
  });
  const queue = new Queue('webhooks', { connection: redis });
  // The message alone: an error of ioredis also has the AUTH command, with the password.
  const log = (error: Error) => console.error(error.message);
  pool.on('error', log);
  redis.on('error', log);
  queue.on('error', log);
  return createReceiver({
    secret,
    store: postgresStore(pool),
    queue: bullmqQueue(queue),
  }).onPaid(({ payload: order }) => deliver(order));
}

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}
