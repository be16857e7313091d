import { UsageError, WebhookError } from '../../errors/errors.js';
import type { HandOff } from '../../process/queue.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { nameType } from '../../runtime/bytes.js';
import { sha2 } from '../../runtime/hashes.js';
import { type LargeBinding, type LargeBodies, largeBodies } from './large-bodies.js';
import { type Message, toMessage, toOffloadedJob } from './message.js';

/**
 * The part of a queue producer's binding that is used. Declared here, so that no version of Cloudflare's types is
 * needed.
 */
export interface QueueBinding {
  send(message: Message, options?: { contentType?: 'json' }): Promise<unknown>;
}

/** The options of {@link cloudflareQueue}. */
export interface CloudflareQueueOptions {
  /**
   * The binding of an R2 bucket or a D1 database, for deliveries that are too large for a message, which holds
   * 128 KB. Without it, such deliveries are answered 503. Pass the same binding to `cloudflareWorker`.
   */
  readonly large?: LargeBinding;
}

/**
 * Hands deliveries to a Cloudflare Queue. Pass it as the `queue` of a receiver. A Worker with
 * {@link cloudflareWorker} consumes the queue.
 *
 * With `d1Store`, set the `max_batch_size` of the consumers to 5 if a delivery has one handler, to 3 if it has two, and to
 * 2 if it has three: D1 allows an invocation 50 queries on Workers Free, and 1,000 on Paid. A delivery takes up to 5 for
 * each of its handlers, plus one with `confirm` and those that the handlers send, and a new isolate up to 6.
 *
 * @param queue - The binding of the queue's producer.
 * @throws {UsageError} `client_invalid`, with the line of wrangler.jsonc to check.
 *
 * @example
 * const makeReceiver = (env: Env) =>
 *   createReceiver({
 *     secret: env.WEBHOOK_SECRET,
 *     store: d1Store(env.DB),
 *     queue: cloudflareQueue(env.WEBHOOKS, { large: env.BODIES }),
 *   });
 */
export function cloudflareQueue(
  queue: QueueBinding,
  options: CloudflareQueueOptions = {},
): HandOff {
  if (typeof queue?.send !== 'function') {
    throw new UsageError(
      'client_invalid',
      'cloudflareQueue() takes the binding of a queue, such as env.WEBHOOKS with "producers": ' +
        `[{ "binding": "WEBHOOKS", "queue": "webhooks" }] in wrangler.jsonc, but got ${nameType(queue)}.`,
    );
  }
  // A `large` that is undefined is an error: the binding is missing from the configuration.
  const bodies = 'large' in options ? largeBodies(options.large) : undefined;

  async function send(delivery: SealedDelivery, nameBody: () => string, signal: AbortSignal) {
    const message = toMessage(delivery) ?? (await offload(delivery, nameBody, bodies));
    // If the receiver has given up on this hand-off, the provider retries the delivery.
    signal.throwIfAborted();
    await queue.send(message, { contentType: 'json' });
    return { id: delivery.key };
  }

  return {
    durable: true,
    description: 'Cloudflare Queues',
    // A retry overwrites its body, unless the provider has encoded it differently: the proof in the first message
    // holds only for the first bytes.
    enqueue: (delivery, { key, signal }) =>
      send(delivery, () => `${key}-${sha2.sha256(delivery.body)}`, signal),
    // A new name: an older message about the same delivery may still clear the body under the old one.
    redrive: (delivery, { key, signal }) =>
      send(delivery, () => `${key}-${crypto.randomUUID()}`, signal),
  };
}

async function offload(
  delivery: SealedDelivery,
  nameBody: () => string,
  bodies: LargeBodies | undefined,
): Promise<Message> {
  if (!bodies) {
    throw new WebhookError(
      'delivery_too_large',
      `A delivery of ${delivery.body.length} bytes is too large for a message of Cloudflare Queues. Keep large ` +
        'bodies in R2: pass cloudflareQueue(…, { large: env.BODIES }), and the same `large` to cloudflareWorker().',
    );
  }
  const name = nameBody();
  await bodies.put(name, delivery.body);
  return toOffloadedJob(delivery, name);
}
