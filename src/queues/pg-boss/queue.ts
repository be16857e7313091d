import { UsageError, WebhookError } from '../../errors/errors.js';
import { tooOld } from '../../errors/too-old.js';
import type { HandOff, HandOffOptions } from '../../process/queue.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { afterActive } from '../run-job.js';
import type { Boss, StoredJob } from './boss.js';
import { toData } from './data.js';
import { warnWithoutLimits } from './limits.js';
import { Queues } from './queues.js';
import { type BossTransaction, toOptions } from './transaction.js';

/**
 * Hands deliveries to pg-boss 10 or later, one job each. If they are missing, creates the queue and `<name>-dead`,
 * which takes jobs that have used up their attempts. pg-boss tries a job 17 times within about a day, and a job
 * may run for 5 minutes; create the queue yourself for other settings. The connections of pg-boss need a
 * `query_timeout`, or they may fall silent forever; if they have none, one line on stderr warns of it.
 *
 * @param boss - A started instance of pg-boss.
 * @param options.name - The name of the queue. Default: `webhooks`.
 * @throws {UsageError} `client_invalid`, or `version_unsupported` before pg-boss 10.
 *
 * @example
 * import { PgBoss } from 'pg-boss';
 *
 * const limits = { query_timeout: 10_000, connectionTimeoutMillis: 5_000, keepAlive: true };
 * const boss = await new PgBoss({ host: '127.0.0.1', ...limits }).start();
 * const queue = pgBossQueue(boss);
 * const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET, queue });
 */
export function pgBossQueue(
  boss: Boss,
  { name = 'webhooks' }: { readonly name?: string } = {},
): HandOff<BossTransaction> {
  checkBoss(boss);
  warnWithoutLimits(boss);
  const queues = new Queues(boss, name);

  const find = async (delivery: SealedDelivery, { tx }: Options) =>
    boss
      .getJobById(name, jobIdOf(delivery), { ...toOptions(tx), includeArchive: false })
      // pg-boss 12 rejects this if the queue is missing.
      .catch((error: unknown) => {
        queues.forget();
        throw error;
      });

  const remove = async (delivery: SealedDelivery, { tx }: Options) =>
    boss.deleteJob(name, jobIdOf(delivery), toOptions(tx));

  const put = async (delivery: SealedDelivery, options: Options) => {
    const id = jobIdOf(delivery);
    try {
      const data = toData(delivery);
      // Name the dead-letter queue, because a queue that the operator created may have none.
      const terms = { ...toOptions(options.tx), id, deadLetter: queues.dead };
      for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
        if ((await boss.send(name, data, terms)) !== null) return { id };
        // null: the job exists already, or the queue is missing.
        const job = await find(delivery, options);
        if (job && isPending(job)) return { id };
        // It has ended, perhaps without a handler, and pg-boss would not run it again.
        if (job) await remove(delivery, options);
      }
    } catch (error) {
      queues.forget();
      throw error;
    }
    queues.forget();
    throw missing(name);
  };

  return {
    durable: true,
    description: `pg-boss (${name})`,
    enqueue: async (delivery, options) => {
      await queues.ready();
      options.signal.throwIfAborted();
      return put(delivery, options);
    },
    redrive: async (delivery, options) => {
      await queues.ready();
      const job = await afterActive(options.signal, () => find(delivery, options));
      if (job?.state !== 'retry') return put(delivery, options);
      // Its next attempt may be due only in hours. A new job has the attempts that are left, and no pause before them.
      // pg-boss counts a retry only when it begins.
      const retryLimit = job.retryLimit - job.retryCount - 1;
      const terms = { ...toOptions(options.tx), retryLimit, deadLetter: queues.dead };
      const id = await boss.send(name, toData(delivery), terms);
      if (id === null) throw missing(name);
      // Only now: if this process dies before, the delivery has two jobs, and its claim lets one of them run it.
      await remove(delivery, options);
      return { id };
    },
  };
}

type Options = HandOffOptions<BossTransaction>;

function missing(name: string): WebhookError {
  return new WebhookError('queue_invalid', `pg-boss has no queue ${name} any more.`);
}

/** How often a job is put that another process puts or removes at the same time. */
const MAX_TRIES = 3;

/** Whether pg-boss runs the job, or will run it. */
function isPending({ state }: StoredJob): boolean {
  return ['active', 'created', 'retry'].includes(state);
}

/** @throws {UsageError} `client_invalid`, or `version_unsupported` before pg-boss 10. */
export function checkBoss(boss: Boss): void {
  if (typeof boss?.send === 'function' && typeof boss.work === 'function') {
    if (typeof boss.createQueue === 'function') return;
    const install = 'pg-boss@10, or pg-boss@latest on Node 22.12 or later';
    throw tooOld('This package', 'pg-boss 10', 'pg-boss 9 or earlier', install);
  }
  throw new UsageError(
    'client_invalid',
    'Pass a started instance of pg-boss: await new PgBoss(url).start().',
  );
}

/** Returns the first 128 bits of the key, in the form of a UUID. */
function jobIdOf({ key }: SealedDelivery): string {
  return key.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
