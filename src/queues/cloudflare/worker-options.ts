import { UsageError } from '../../errors/errors.js';
import type { LargeBinding } from './large-bodies.js';

/** The options of {@link cloudflareWorker}. */
export interface CloudflareWorkerOptions<Env> {
  /** The name of the queue, or several names if wrangler.jsonc has several environments. */
  readonly queue: string | readonly string[];
  /**
   * The name of the dead-letter queue, which this Worker has to consume too. Without a dead-letter queue, the
   * platform drops messages that have used up their retries. Its consumer needs `"max_retries": 100` in
   * wrangler.jsonc: by default, the platform drops a delivery when the store has been down for 7 minutes.
   */
  readonly deadLetterQueue: string | readonly string[];
  /** Returns the `large` of `cloudflareQueue`. Default: every body is in its message. */
  readonly large?: (env: Env) => LargeBinding;
}

/** The names of the queues, as a batch states them. */
export interface QueueNames {
  readonly live: readonly string[];
  readonly dead: readonly string[];
}

/** @throws {UsageError} `option_invalid` */
export function readNames(options: CloudflareWorkerOptions<never>): QueueNames {
  const live = [options?.queue].flat();
  const dead = [options?.deadLetterQueue].flat();
  const areNames = [live, dead].every(
    (names) =>
      names.length > 0 && names.every((name) => typeof name === 'string' && name.length > 0),
  );
  if (!areNames || live.some((name) => dead.includes(name))) {
    throw new UsageError(
      'option_invalid',
      "cloudflareWorker() needs the names of both queues, { queue: 'webhooks', deadLetterQueue: 'webhooks-dead' }, " +
        'and wrangler.jsonc needs a consumer for each: { "queue": "webhooks", "max_retries": 10, ' +
        '"dead_letter_queue": "webhooks-dead" } and { "queue": "webhooks-dead", "max_retries": 100 }.',
    );
  }
  if (options.large !== undefined && typeof options.large !== 'function') {
    throw new UsageError(
      'option_invalid',
      'The `large` of cloudflareWorker() has to be a function: (env) => env.BODIES.',
    );
  }
  return { live, dead };
}
