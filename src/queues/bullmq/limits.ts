import { quoted, writeLine } from '../../errors/log.js';
import { optionOf } from '../../stores/size-limits.js';
import type { BullmqJob, BullmqQueue } from './bullmq.js';
import { clientOf } from './connection.js';

/**
 * Warns on stderr, in one line, if the connection of a queue has no time limit. `ioredis` waits for a reply as
 * long as the peer keeps the connection open, so a silent connection would have every delivery answered 503.
 */
export async function warnOfQueue(queue: BullmqQueue, client: Promise<unknown>): Promise<void> {
  if (!missingOf(await client).includes('socketTimeout')) return;
  writeLine(
    `the connection of the queue ${quoted(queue.name ?? '')} has no socketTimeout. If it falls silent, every ` +
      'delivery is answered 503 until this process restarts. Set one: new Queue(name, { connection: { ' +
      'socketTimeout: 5000, … } }).',
    'operate.md#no-time-limit',
    'warn',
  );
}

/**
 * Warns on stderr, in one line, if the connection of the worker of a job has no time limit, or would stay with a
 * server that has become a replica. The worker would then take no more jobs, and report at most that it cannot.
 */
export async function warnOfWorker(job: BullmqJob): Promise<void> {
  const worker = optionOf(job, 'queue');
  const missing = missingOf(await clientOf(worker));
  if (missing.length === 0) return;
  writeLine(
    `the connection of the worker of the queue ${quoted(`${optionOf(worker, 'name') ?? ''}`)} has no ` +
      `${missing.join(' and no ')}. After a failover, the worker may take no more jobs until this process ` +
      'restarts. Create it like this: new Worker(name, processor, { connection: { socketTimeout: 12000, ' +
      'reconnectOnError: (error) => /READONLY|UNBLOCKED/.test(error.message), … } }).',
    'operate.md#no-time-limit',
    'warn',
  );
}

/** Returns the options that a client of ioredis lacks. The options of other clients are not known. */
function missingOf(client: unknown): string[] {
  const options = optionOf(client, 'options');
  const isCluster = optionOf(client, 'isCluster') === true;
  if (!isCluster && optionOf(options, 'retryStrategy') === undefined) return [];
  const own = isCluster ? optionOf(options, 'redisOptions') : options;
  const missing = Number(optionOf(own, 'socketTimeout')) > 0 ? [] : ['socketTimeout'];
  // A cluster names its new primary.
  if (!isCluster && typeof optionOf(own, 'reconnectOnError') !== 'function')
    missing.push('reconnectOnError');
  return missing;
}
