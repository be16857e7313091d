import { UsageError, WebhookError } from '../../errors.js';
import { fromJob } from '../job.js';
import { checkDispatching, type Dispatching, runJob } from '../run-job.js';
import type { Boss, BossJob } from './boss.js';
import { fromData, toData } from './data.js';
import { guardEnds } from './ends.js';
import { checkBoss } from './queue.js';
import { Queues } from './queues.js';

const DEAD_PAUSE_S = 60;

/** How {@link pgBossWorker} takes deliveries. */
export interface PgBossWorkerOptions {
  /** Of the queue. Default: `webhooks`. */
  readonly name?: string;
  /** How many deliveries are processed at once, in this process. Default: 5. */
  readonly concurrency?: number;
  /** How often an idle worker looks for deliveries. Default: every 2 seconds; at least 0.5. */
  readonly pollingIntervalSeconds?: number;
}

/**
 * Has pg-boss run the handlers of a receiver. What fails is tried again; what fails for the last time is
 * parked in a store that is durable, for `receiver.redrive`. What could not be parked, because the store
 * was down or the process died, is in the queue `<name>-dead` until it can.
 *
 * Resolves once the workers are running; `boss.stop()` ends them. The job of a worker that was killed is
 * given out again at its heartbeat (60 s) with pg-boss 12.12 and later, and before at its expiry (5 minutes).
 *
 * pg-boss 10 does not wait for the statement that ends a job, and the process would end where it rejects. So
 * with that version the statements of its `getDb()` that end these jobs are tried again for 30 s.
 *
 * @throws {UsageError} `client_invalid`, `receiver_invalid` or `option_invalid`
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
    throw new UsageError('option_invalid', '`concurrency` has to be a whole number from 1 on.');
  }
  const queues = new Queues(boss, name);
  await queues.ready();
  const begins = guardEnds(boss);
  const start = async (queue: string, run: (job: BossJob) => Promise<unknown>) => {
    // One job each, because pg-boss 10 has a whole batch fail or succeed.
    const settings = { includeMetadata: true, batchSize: 1, pollingIntervalSeconds } as const;
    // Nothing until pg-boss has said which worker this is: after a job that ends before, it pauses once.
    let takeNext = () => {};
    const worker = await boss.work(queue, settings, async ([job]) => {
      if (!job) return;
      begins(job);
      try {
        return await run(job);
      } finally {
        takeNext();
      }
    });
    // There may be more: otherwise a worker would take one job in each polling interval.
    takeNext = () => boss.notifyWorker(worker);
  };
  for (let worker = 0; worker < concurrency; worker++) {
    await start(name, (job) => processJob(receiver, job, job.retryCount >= job.retryLimit));
  }
  await start(queues.dead, (job) => bury(boss, queues.dead, receiver, job));
}

/** Processes what has used up its attempts once more, so that it is done or parked. */
async function bury(boss: Boss, queue: string, receiver: Dispatching, job: BossJob) {
  try {
    return await processJob(receiver, job, true);
  } catch (error) {
    if (job.retryBackoff || isInvalid(error)) throw error;
    // pg-boss 10 gives a dead letter its job's retry limit, and no pause between the retries: one that
    // is sent has those of the queue.
    const again = { startAfter: DEAD_PAUSE_S };
    // It must not be completed where nothing was put in for it.
    if ((await boss.send(queue, toData(fromJob(fromData(job.data))), again)) === null) throw error;
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
