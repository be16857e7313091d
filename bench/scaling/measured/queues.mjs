import {
  postgresPool,
  postgresProcess,
  redisBytes,
  redisClient,
  redisProcess,
} from './servers.mjs';

// The newest pg-boss needs Node 22, so it is not among the packages of the root.
const PG_BOSS_12 = '../../../test/runtimes/node_modules/pg-boss/dist/index.js';

const NAME = 'webhooks';
const DEAD = 'webhooks-dead';

/**
 * Opens the queue that a task names, with the queue's own package and the settings of this library's adapters.
 * The adapters themselves would add little.
 */
export function openQueue({ queue, url, connections, inFlight }) {
  return queue === 'bullmq' ? openBullmq(url, inFlight) : openPgBoss(url, connections, inFlight);
}

/** Returns a job's data as the library writes it for a delivery. */
function toJob({ body, ...delivery }) {
  return { v: 1, ...delivery, body: Buffer.from(body).toString('base64') };
}

async function openBullmq(url, concurrency) {
  const { Queue, Worker } = await import('bullmq');
  const connection = redisClient(url);
  const queue = new Queue(NAME, { connection });
  await queue.waitUntilReady();
  const empty = await redisBytes(connection);
  return {
    server: await redisProcess(connection),
    enqueue: (delivery) =>
      queue.add('webhook', toJob(delivery), {
        jobId: `wh-${delivery.key}`,
        attempts: 18,
        backoff: { type: 'exponential', delay: 1000, jitter: 0.5 },
        removeOnComplete: { age: 24 * 60 * 60, count: 1000 },
        removeOnFail: false,
      }),
    bytes: async () => (await redisBytes(connection)) - empty,
    work(onDone) {
      new Worker(NAME, async () => onDone(1), { connection: redisClient(url), concurrency });
    },
  };
}

async function openPgBoss(connectionString, max, workers) {
  const { PgBoss } = await import(PG_BOSS_12);
  const boss = new PgBoss({ connectionString, max });
  boss.on('error', console.error);
  await boss.start();
  await boss.createQueue(DEAD);
  await boss.createQueue(NAME, { retryLimit: 16, retryBackoff: true, deadLetter: DEAD });
  const pool = postgresPool(connectionString, 2);
  const size = `SELECT sum(pg_total_relation_size(c.oid))::float8 AS bytes FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'pgboss' AND c.relkind = 'r'`;
  const bytes = async () => (await pool.query(size)).rows[0].bytes;
  const empty = await bytes();
  return {
    server: await postgresProcess(pool),
    enqueue: (delivery) =>
      boss.send(NAME, toJob(delivery), { id: uuidOf(delivery.key), deadLetter: DEAD }),
    bytes: async () => (await bytes()) - empty,
    async work(onDone) {
      const options = { includeMetadata: true, batchSize: 1, pollingIntervalSeconds: 2 };
      for (let worker = 0; worker < workers; worker++) {
        const id = await boss.work(NAME, options, async ([job]) => {
          if (job) onDone(1);
          boss.notifyWorker(id);
        });
      }
    },
  };
}

/** Returns the first bits of the key in the form of a UUID. */
function uuidOf(key) {
  return key.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
