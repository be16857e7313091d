import { UsageError } from '../../errors.js';
import { nameType } from '../../request/bytes.js';
import { withTimeout } from '../../timing.js';
import type { Dispatching } from '../run-job.js';
import type { LargeBinding } from './large-bodies.js';

export interface CloudflareWorkerOptions<Env> {
  /** The name of the queue; of several, where wrangler.jsonc has several environments. */
  readonly queue: string | readonly string[];
  /**
   * The name of its dead-letter queue, which this Worker has to consume as well: without one, the platform
   * drops what has run out of retries.
   */
  readonly deadLetterQueue: string | readonly string[];
  /** The `large` of `cloudflareQueue`. */
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

/** @throws {UsageError} `receiver_invalid` */
export function checkSource(given: Dispatching): Dispatching {
  if (typeof given?.dispatch === 'function') return given;
  throw new UsageError(
    'receiver_invalid',
    `cloudflareWorker() takes a receiver, or a function that returns one, and was given ${
      given instanceof Promise ? 'a promise: await it' : nameType(given)
    }.`,
  );
}

/**
 * Makes something of an `env` at its first use, and gives the same from then on. What could not be made is
 * made again at the next use.
 */
export function oncePerEnv<Env, Made extends object>(
  make: (env: Env) => Promise<Made>,
  what: string,
): (env: Env) => Promise<Made> {
  const made = new WeakMap<object, Promise<Made>>();
  return async (env) => {
    const key = typeof env === 'object' && env !== null ? env : made;
    const making = made.get(key) ?? make(env);
    made.set(key, making);
    try {
      // Each waits for itself: whoever began it may have been cancelled, and its timers with it.
      return await withTimeout(making, what);
    } catch (error) {
      if (made.get(key) === making) made.delete(key);
      throw error;
    }
  };
}
