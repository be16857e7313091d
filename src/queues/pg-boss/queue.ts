import { UsageError, WebhookError } from '../../errors.js';
import type { HandOff, HandOffOptions } from '../../process/hand-off.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { afterActive } from '../run-job.js';
import type { Boss } from './boss.js';
import { toData } from './data.js';
import { warnWithoutLimits } from './limits.js';
import { Queues } from './queues.js';
import { type BossTransaction, toOptions } from './transaction.js';

/**
 * Hands deliveries to pg-boss, 10 or later, one job each. Creates a queue and, for those whose attempts
 * are used up, `<name>-dead`, where they are missing. A job is tried 17 times within about a day, and
 * may run for 5 minutes; create the queue yourself for other settings. Its connections need a
 * `query_timeout`, or they may fall silent for ever; where they have none, one line on stderr says so.
 *
 * @param boss - Started.
 * @param options.name - Of the queue. Default: `webhooks`.
 * @throws {UsageError} `client_invalid`
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
    boss.getJobById(name, jobIdOf(delivery), { ...toOptions(tx), includeArchive: false });

  const put = async (delivery: SealedDelivery, options: Options) => {
    const id = jobIdOf(delivery);
    try {
      const data = toData(delivery);
      // By name, because a queue that its owner has created need not have any.
      const terms = { ...toOptions(options.tx), id, deadLetter: queues.dead };
      if ((await boss.send(name, data, terms)) !== null) return { id };
      // There is such a job already; or there is no queue.
      if (await find(delivery, options)) return { id };
    } catch (error) {
      queues.forget();
      throw error;
    }
    // pg-boss gives null for a queue that is gone as well.
    queues.forget();
    throw new WebhookError('queue_invalid', `pg-boss has no queue ${name} any more.`);
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
      const id = jobIdOf(delivery);
      // Still to be tried, or being tried: to begin anew would take back its pauses.
      if (job && ['active', 'created', 'retry'].includes(job.state)) return { id };
      // pg-boss leaves a job that has ended as it is; and a new one has all of its attempts.
      if (job) await boss.deleteJob(name, id, toOptions(options.tx));
      await put(delivery, options);
      return { id };
    },
  };
}

type Options = HandOffOptions<BossTransaction>;

/** @throws {UsageError} `client_invalid` */
export function checkBoss(boss: Boss): void {
  if (typeof boss?.send === 'function' && typeof boss.work === 'function') return;
  throw new UsageError(
    'client_invalid',
    'Pass an instance of pg-boss that was started: await new PgBoss(url).start().',
  );
}

/** A UUID: the first 128 bits of the key. */
function jobIdOf({ key }: SealedDelivery): string {
  return key.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
