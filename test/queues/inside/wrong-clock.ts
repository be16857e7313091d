// Imported first, so that all of this process has the wrong clock (CHAOS_CLOCK_MS).
import '../../chaos/inside/clock.js';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { createReceiver } from 'storefront-webhooks';
import { bullmqWorker } from 'storefront-webhooks/bullmq';
import { redisStore } from 'storefront-webhooks/redis';
import { ofAnyShop } from '../deliveries.js';

/** A worker whose handler records in Redis when it ran, by Redis's clock, and then fails. */
const { NAME = '', REDIS_PORT } = process.env;
const connection = { host: '127.0.0.1', port: Number(REDIS_PORT) };
const redis = new Redis(connection);

const receiver = createReceiver({
  secret: ofAnyShop,
  store: redisStore(redis),
  hooks: { onError() {} },
}).on('order:paid', async () => {
  const [seconds, micros] = await redis.time();
  await redis.rpush(`ran:${NAME}`, Number(seconds) * 1000 + Math.round(Number(micros) / 1000));
  console.log(`it ran on ${new Date().toISOString()}`);
  throw new Error('it fails');
});

const worker = new Worker(NAME, bullmqWorker(receiver), { connection });
process.once('SIGTERM', () => void worker.close().then(() => process.exit(0)));
