import { UsageError } from '../../errors.js';
import type { LargeBinding } from './large-bodies.js';

/** Which queues {@link cloudflareWorker} consumes. */
export interface CloudflareWorkerOptions<Env> {
  /** The name of the queue; of several, where wrangler.jsonc has several environments. */
  readonly queue: string | readonly string[];
  /**
   * The name of its dead-letter queue, which this Worker has to consume as well: without one, the platform
   * drops what has run out of retries.
   */
  readonly deadLetterQueue: string | readonly string[];
  /** The `large` of `cloudflareQueue`. Default: no body is kept beside its message. */
  readonly large?: (env: Env) => LargeBinding;
}

/** The names of the queues, as they come with each batch. */
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
        'and wrangler.jsonc a consumer for each: { "queue": "webhooks", "dead_letter_queue": "webhooks-dead" } ' +
        'and { "queue": "webhooks-dead", "max_retries": 100 }.',
    );
  }
  if (options.large !== undefined && typeof options.large !== 'function') {
    throw new UsageError(
      'option_invalid',
      'The `large` of cloudflareWorker() is a function: (env) => env.BODIES.',
    );
  }
  return { live, dead };
}
