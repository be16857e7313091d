import { UsageError, WebhookError } from '../../errors.js';
import type { HandOff } from '../../process/hand-off.js';
import { nameType } from '../../request/bytes.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { type LargeBinding, type LargeBodies, largeBodies } from './large-bodies.js';
import { type Message, toMessage, toOffloadedJob } from './message.js';

/**
 * The part of the binding of a Queue's producer that is used: by its shape, so that no version of Cloudflare's
 * types is needed.
 */
export interface QueueBinding {
  send(message: Message, options?: { contentType?: 'json' }): Promise<unknown>;
}

/** How {@link cloudflareQueue} keeps what is too large for a message. */
export interface CloudflareQueueOptions {
  /**
   * The binding of an R2 bucket or a D1 database, for deliveries that are too large for a message, which
   * holds 128 KB. Without it they are answered 503. Give the same to `cloudflareWorker`.
   */
  readonly large?: LargeBinding;
}

/**
 * Hands deliveries to a Cloudflare Queue, for the `queue` of a receiver. Its consumer is a Worker with
 * {@link cloudflareWorker}.
 *
 * @param queue - The binding of the queue's producer.
 * @throws {UsageError} `client_invalid`, with the line of wrangler.jsonc to look at.
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
        `[{ "binding": "WEBHOOKS", "queue": "webhooks" }] in wrangler.jsonc, and was given ${nameType(queue)}.`,
    );
  }
  // Where it is named it has to be there: a binding that is not configured is undefined.
  const bodies = 'large' in options ? largeBodies(options.large) : undefined;

  async function send(delivery: SealedDelivery, name: string, signal: AbortSignal) {
    const message = toMessage(delivery) ?? (await offload(delivery, name, bodies));
    // Nobody waits for it any more, and its sender comes back.
    signal.throwIfAborted();
    await queue.send(message, { contentType: 'json' });
    return { id: delivery.key };
  }

  return {
    durable: true,
    description: 'Cloudflare Queues',
    // A retry of the same delivery writes over its body.
    enqueue: (delivery, { key, signal }) => send(delivery, key, signal),
    // Not under the same name: a message about its former life may still clear the body there.
    redrive: (delivery, { key, signal }) => send(delivery, `${key}-${crypto.randomUUID()}`, signal),
  };
}

async function offload(
  delivery: SealedDelivery,
  name: string,
  bodies: LargeBodies | undefined,
): Promise<Message> {
  if (!bodies) {
    throw new WebhookError(
      'delivery_too_large',
      `A delivery of ${delivery.body.length} bytes is too large for a message of Cloudflare Queues. Keep the ` +
        'bodies of such in R2: cloudflareQueue(…, { large: env.BODIES }), and the same for cloudflareWorker().',
    );
  }
  await bodies.put(name, delivery.body);
  return toOffloadedJob(delivery, name);
}
