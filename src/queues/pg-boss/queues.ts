import { WebhookError } from '../../errors.js';
import { pause } from '../../timing.js';
import type { Boss, BossQueueOptions } from './boss.js';

const DAY_S = 24 * 60 * 60;
const RETENTION_S = 30 * DAY_S;

const CREATE_ATTEMPTS = 5;

type Settings = Omit<BossQueueOptions, 'name' | 'deadLetter'>;

// A job is deleted that waits for longer than it is retained, so no number of attempts may take as long.
const COMMON = {
  retryBackoff: true,
  // Several times what the handlers of a delivery may take by default.
  expireInSeconds: 300,
  // From pg-boss 12 on, a worker that has died is noticed sooner.
  heartbeatSeconds: 60,
  retentionMinutes: RETENTION_S / 60,
  retentionSeconds: RETENTION_S,
} as const;

/** From one second on, twice as long each time: 17 attempts in about 27 hours. */
const SETTINGS: Settings = { ...COMMON, retryLimit: 16, retryDelay: 1, deleteAfterSeconds: 3600 };

/** As long as it takes for a store to be there: from a minute on, for as long as a job is retained. */
const DEAD_SETTINGS: Settings = {
  ...COMMON,
  retryLimit: 100,
  retryDelay: 60,
  deleteAfterSeconds: RETENTION_S,
};

/** The queue of the deliveries, and that of those whose attempts are used up. */
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

  /** Creates both, unless they are there: with settings of their owner's, perhaps. */
  ready(): Promise<void> {
    this.#ready ??= this.#create().catch((error) => {
      this.forget();
      throw error;
    });
    return this.#ready;
  }

  /** Looks again whether they are there before anything is put in. */
  forget(): void {
    this.#ready = undefined;
  }

  async #create(): Promise<void> {
    // The first has to be there for the second.
    await this.#ensure({ name: this.dead, ...DEAD_SETTINGS });
    await this.#ensure({ name: this.name, ...SETTINGS, deadLetter: this.dead });
  }

  async #ensure(options: BossQueueOptions): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const queue = await this.#boss.getQueue(options.name);
      if (queue) return checkPolicy(queue);
      try {
        // A copy, because pg-boss 10 adds fields to what it is given.
        return await this.#boss.createQueue(options.name, { ...options });
      } catch (error) {
        // Where two processes create a queue at once, PostgreSQL ends one of them as a deadlock.
        if (attempt >= CREATE_ATTEMPTS) throw error;
      }
      await pause(200 * attempt * Math.random());
    }
  }
}

/** @throws {WebhookError} `queue_invalid` where the queue would drop deliveries. */
function checkPolicy(queue: object): void {
  const policy = 'policy' in queue ? (queue.policy ?? 'standard') : 'standard';
  if (policy === 'standard') return;
  throw new WebhookError(
    'queue_invalid',
    `A queue of pg-boss with the policy ${policy} drops deliveries: create it with the policy standard.`,
  );
}
