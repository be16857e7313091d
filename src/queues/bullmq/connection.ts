import { WebhookError } from '../../errors/errors.js';
import { quoted } from '../../errors/log.js';
import { describeError } from '../../errors/text.js';
import { hasMethods } from '../../stores/platform.js';
import { connectAgain, onReadOnly } from '../../stores/redis/demoted.js';
import { optionOf } from '../../stores/size-limits.js';
import type { BullmqQueue } from './bullmq.js';

/** The Redis connection of a queue. */
export class Connection {
  /** The calls that wait for the first connection; `undefined` once that is made or has failed. */
  #waiting: Set<() => void> | undefined = new Set();
  #failure: WebhookError | undefined;
  #client: unknown;
  readonly #queue: BullmqQueue;
  readonly #failed = onReadOnly(() => leaveReplica(this.#client));

  constructor(queue: BullmqQueue, client: Promise<unknown>) {
    this.#queue = queue;
    client
      .then(
        (connected) => {
          this.#client = connected;
        },
        (error: unknown) => {
          this.#failure = notStarted(queue, error);
        },
      )
      .then(() => {
        for (const goOn of this.#waiting ?? []) goOn();
        this.#waiting = undefined;
      });
  }

  /**
   * Makes a call once the queue is connected. BullMQ would keep a call, and so its delivery, until it is. If the
   * server is a replica by now, the queue then connects again: the address may lead to the new primary.
   *
   * @throws {WebhookError} `queue_invalid` if the queue could not start.
   */
  async use<Value>(signal: AbortSignal, call: () => Promise<Value>): Promise<Value> {
    await this.#connected(signal);
    if (this.#failure) throw this.#failure;
    try {
      return await call();
    } catch (error) {
      this.#failed(error);
      throw isAcrossSlots(error) ? needsPrefix(this.#queue, error) : error;
    }
  }

  async #connected(signal: AbortSignal): Promise<void> {
    const waiting = this.#waiting;
    if (!waiting) return;
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const goOn = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        waiting.delete(goOn);
        reject(signal.reason);
      };
      waiting.add(goOn);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}

/** Returns the connection of a queue, whichever version of BullMQ it is of. */
export function connectionOf(queue: BullmqQueue): Promise<unknown> {
  return clientOf(queue.getBackend?.() ?? queue);
}

/** Returns the Redis client of a queue or a worker, once it is connected. In BullMQ 5, the queue itself holds it. */
export async function clientOf(queue: unknown): Promise<unknown> {
  return optionOf(optionOf(queue, 'backend') ?? queue, 'client');
}

/** BullMQ prepares its connection once. If that fails, all later calls of the queue fail with the same error. */
function notStarted({ name = '' }: BullmqQueue, error: unknown): WebhookError {
  return new WebhookError(
    'queue_invalid',
    `The queue ${quoted(name)} of BullMQ could not start (${describeError(error)}), and BullMQ does not try again. ` +
      'Restart this process.',
  );
}

function isAcrossSlots(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('CROSSSLOT');
}

/** A script of BullMQ uses several keys, and a cluster runs it only if all are on one server. */
function needsPrefix({ name = '' }: BullmqQueue, cause: unknown): WebhookError {
  return new WebhookError(
    'queue_invalid',
    `The keys of the queue ${quoted(name)} of BullMQ are on several servers of the Redis cluster. Give the queue and ` +
      "its worker the same prefix with braces: new Queue(name, { prefix: '{webhooks}', … }).",
    { cause },
  );
}

/** A cluster names the new primary itself, and other drivers have no way to connect again. */
function leaveReplica(client: unknown): void {
  if (isIoRedis(client) && optionOf(client, 'isCluster') !== true) connectAgain(client);
}

function isIoRedis(
  client: unknown,
): client is { readonly status: string; disconnect(reconnect: boolean): void } {
  return hasMethods(client, 'disconnect') && typeof optionOf(client, 'status') === 'string';
}
