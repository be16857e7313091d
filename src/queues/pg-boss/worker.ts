import { UsageError, WebhookError } from '../../errors/errors.js';
import { fromJob } from '../job.js';
import { checkDispatching, type Dispatching, runJob } from '../run-job.js';
import type { Boss, BossJob } from './boss.js';
import { fromData, toData } from './data.js';
import { guardEnds } from './ends.js';
import { checkBoss } from './queue.js';
import { Queues } from './queues.js';

const DEAD_PAUSE_S = 60;

/** The options of {@link pgBossWorker}. */
export interface PgBossWorkerOptions {
  /** The name of the queue. Default: `webhooks`. */
  readonly name?: string;
  /** How many deliveries this process handles at once. Default: 5. */
  readonly concurrency?: number;
  /** How often an idle worker polls for deliveries. Default: every 2 seconds; at least 0.5. */
  readonly pollingIntervalSeconds?: number;
}

/**
 * Starts workers of pg-boss that run the handlers of a receiver. pg-boss retries a job that fails; after its last
 * attempt, the receiver parks the delivery in a durable store, for `receiver.redrive`. If the delivery cannot be
 * parked, because the store is down or the process died, it stays in the queue `<name>-dead` until it can.
 *
 * Resolves once the workers are running. They end with `receiver.close()` or `boss.stop()`. If a worker is killed,
 * pg-boss 12.12 and later run its job again after a missed heartbeat (60 s), and earlier versions when the job
 * expires (5 minutes).
 *
 * pg-boss 10 does not await the statement that ends a job, so its rejection would end the process. With that
 * version, the worker retries the statements of `getDb()` that end these jobs for 30 s.
 *
 * @throws {UsageError} `client_invalid`, `version_unsupported`, `receiver_invalid` or `option_invalid`
 *
 * @example
 * await pgBossWorker(boss, receiver, { concurrency: 10 });
 */
export async function pgBossWorker(
  boss: Boss,
  receiver: Dispatching,
  { name = 'webhooks', concurrency = 5, pollingIntervalSeconds = 2 }: PgBossWorkerOptions = {},
): Promise<void> {
  checkBoss(boss);
  checkDispatching(receiver);
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new UsageError('option_invalid', '`concurrency` has to be a whole number of at least 1.');
  }
  const queues = new Queues(boss, name);
  await queues.ready();
  const begins = guardEnds(boss);
  const started: (() => void)[] = [];
  const start = async (queue: string, run: (job: BossJob) => Promise<unknown>) => {
    if (receiver.closing?.aborted) return;
    // One job at a time, because in pg-boss 10 a batch fails or succeeds as a whole.
    const settings = { includeMetadata: true, batchSize: 1, pollingIntervalSeconds } as const;
    // Does nothing until boss.work() has returned the worker's id. After a job that ends earlier, the worker
    // pauses.
    let takeNext = () => {};
    const worker = await boss.work(queue, settings, async ([job]) => {
      if (!job) return;
      begins(job);
      // Without the next one: it may be this one.
      if (receiver.closing?.aborted) return putBack(boss, queue, queues.dead, job);
      try {
        return await run(job);
      } finally {
        takeNext();
      }
    });
    const stop = () => {
      receiver.closing?.removeEventListener('abort', stop);
      // The worker first finishes its current job.
      boss.offWork(queue, { id: worker, wait: false }).catch(() => {});
    };
    started.push(stop);
    // The receiver may have begun to close while the worker was started.
    if (receiver.closing?.aborted) stop();
    else receiver.closing?.addEventListener('abort', stop);
    // Take the next job at once. Otherwise, a worker would take one job in each polling interval.
    takeNext = () => boss.notifyWorker(worker);
  };
  try {
    for (let worker = 0; worker < concurrency; worker++) {
      await start(name, (job) => processJob(receiver, job, job.retryCount >= job.retryLimit));
    }
    await start(queues.dead, (job) => bury(boss, queues.dead, receiver, job));
  } catch (error) {
    // The program may try again, and would then have more workers than it asked for.
    for (const stop of started) stop();
    throw error;
  }
}

/** Puts back a job that was taken while the receiver closes. To fail it would use up an attempt. */
async function putBack(boss: Boss, queue: string, dead: string, { data }: BossJob) {
  const terms = queue === dead ? {} : { deadLetter: dead };
  if (await sendAgain(boss, queue, data, terms)) return { outcome: 'unavailable' };
  throw new WebhookError('queue_invalid', `pg-boss has no queue ${queue} any more.`);
}

/** Resolves to whether pg-boss took a copy of the job. If it did not, the job itself must not be completed. */
async function sendAgain(boss: Boss, queue: string, data: unknown, terms: object) {
  return (await boss.send(queue, toData(fromJob(fromData(data))), terms)) !== null;
}

/** Processes a job that has used up its attempts once more, so that its delivery is done or parked. */
async function bury(boss: Boss, queue: string, receiver: Dispatching, job: BossJob) {
  try {
    return await processJob(receiver, job, true);
  } catch (error) {
    if (job.retryBackoff || isInvalid(error)) throw error;
    // In pg-boss 10, a dead letter has the retry limit of its job, and no pauses. A job that is sent has the
    // settings of the queue.
    if (!(await sendAgain(boss, queue, job.data, { startAfter: DEAD_PAUSE_S }))) throw error;
    return { outcome: 'unavailable' };
  }
}

function isInvalid(error: unknown): boolean {
  return error instanceof WebhookError && error.code === 'job_invalid';
}

async function processJob(receiver: Dispatching, { data }: BossJob, isLast: boolean) {
  const result = await runJob(receiver, fromData(data), { isLast });
  if (result.state !== 'done') throw result.error;
  return { outcome: result.outcome };
}
