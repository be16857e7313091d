import { UsageError, WebhookError } from '../../errors/errors.js';
import { writeLine } from '../../errors/log.js';
import { pause } from '../../runtime/timing.js';
import { optionOf } from '../../stores/size-limits.js';
import { warnWithoutListener } from '../../stores/warn-once.js';
import type { Boss, BossQueueOptions } from './boss.js';

const DAY_S = 24 * 60 * 60;
const RETENTION_S = 30 * DAY_S;

const CREATE_ATTEMPTS = 5;

type Settings = Omit<BossQueueOptions, 'name' | 'deadLetter'>;

// pg-boss deletes a job that waits for longer than its retention, so all attempts together must take less.
const COMMON = {
  retryBackoff: true,
  // Several times the default timeout of a delivery's handlers.
  expireInSeconds: 300,
  // pg-boss 12 and later notice the death of a worker sooner by this.
  heartbeatSeconds: 60,
  retentionMinutes: RETENTION_S / 60,
  retentionSeconds: RETENTION_S,
} as const;

/** 17 attempts in about 27 hours: the first pause is a second, and each pause doubles the one before. */
const SETTINGS: Settings = { ...COMMON, retryLimit: 16, retryDelay: 1, deleteAfterSeconds: 3600 };

/** Retries until the store is back: after a minute at first, and for as long as pg-boss retains the job. */
const DEAD_SETTINGS: Settings = {
  ...COMMON,
  retryLimit: 100,
  retryDelay: 60,
  deleteAfterSeconds: RETENTION_S,
};

/** The queue of the deliveries, and the queue of those that have used up their attempts. */
export class Queues {
  readonly name: string;
  readonly dead: string;
  readonly #boss: Boss;
  #ready: Promise<void> | undefined;

  constructor(boss: Boss, name: string) {
    this.#boss = boss;
    this.name = name;
    this.dead = `${name}-dead`;
  }

  /** Creates both queues if they are missing. Existing queues keep their settings, except for the dead letters. */
  ready(): Promise<void> {
    this.#ready ??= this.#create().catch((error) => {
      this.forget();
      throw error;
    });
    return this.#ready;
  }

  /** Makes the next {@link ready} check again whether the queues exist. */
  forget(): void {
    this.#ready = undefined;
  }

  async #create(): Promise<void> {
    checkStarted(this.#boss);
    warnWithoutListener(this.#boss, 'pg-boss', 'boss');
    // The dead-letter queue has to exist before the queue that names it.
    await this.#ensure({ name: this.dead, ...DEAD_SETTINGS });
    await this.#ensure({ name: this.name, ...SETTINGS, deadLetter: this.dead });
  }

  async #ensure(options: BossQueueOptions): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const queue = await this.#boss.getQueue(options.name);
      if (queue) {
        checkPolicy(queue);
        return this.#adopt(queue, options);
      }
      try {
        // A copy, because pg-boss 10 adds fields to its argument.
        return await this.#boss.createQueue(options.name, { ...options });
      } catch (error) {
        // If two processes create a queue at once, PostgreSQL fails one of them with a deadlock.
        if (attempt >= CREATE_ATTEMPTS) throw error;
      }
      await pause(200 * attempt * Math.random());
    }
  }

  /**
   * Gives an existing queue its dead letters. pg-boss 11.0 to 12.5 ignores the `deadLetter` of a job: without one of
   * the queue, it would drop a job that has used up its attempts; in another queue, no worker of this package takes it.
   */
  async #adopt(queue: object, { name, deadLetter }: BossQueueOptions): Promise<void> {
    const earlier = optionOf(queue, 'deadLetter');
    if (!deadLetter || earlier === deadLetter) return;
    await this.#boss.updateQueue(name, { deadLetter });
    if (!earlier) return;
    writeLine(
      `the dead letters of the pg-boss queue ${name} now go to ${deadLetter}, and no longer to ${earlier}, which no ` +
        'worker of this package reads. Deliveries may wait there: create the queue without a deadLetter.',
      undefined,
      'warn',
    );
  }
}

/** @throws {UsageError} `client_invalid` if pg-boss has no connection of its own yet, or no longer. */
function checkStarted(boss: Boss): void {
  const database = boss.getDb?.();
  // Marks of a database that pg-boss opens itself, by version 10 and by later ones.
  const isItsOwn = optionOf(database, 'isOurs') ?? optionOf(database, '_pgbdb');
  if (!isItsOwn || optionOf(database, 'opened')) return;
  throw new UsageError(
    'client_invalid',
    'pg-boss is not started, or it has stopped: await boss.start() first.',
  );
}

/** @throws {WebhookError} `queue_invalid` if the queue would drop deliveries. */
function checkPolicy(queue: object): void {
  const policy = 'policy' in queue ? (queue.policy ?? 'standard') : 'standard';
  if (policy === 'standard') return;
  throw new WebhookError(
    'queue_invalid',
    `A pg-boss queue with the policy ${policy} drops deliveries. Create it with the policy standard.`,
  );
}
