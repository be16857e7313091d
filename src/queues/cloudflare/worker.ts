import { WebhookError } from '../../errors.js';
import { makeOnce, type ReceiverSource, readSource } from '../../receiver-source.js';
import { type Tell, teller } from '../../report/limited.js';
import { quoted } from '../../report/log.js';
import { describeError } from '../../report/text.js';
import { withTimeout } from '../../timing.js';
import { type Dispatching, runDelivery } from '../run-job.js';
import { type LargeBodies, largeBodies } from './large-bodies.js';
import { fromMessage } from './message.js';
import { type CloudflareWorkerOptions, readNames } from './worker-options.js';

// By their shape, so that no version of Cloudflare's types is needed.

/** The part of a message that is used. */
export interface QueueMessage {
  readonly id: string;
  readonly body: unknown;
  /** 1 for the first. */
  readonly attempts: number;
  ack(): void;
  retry(options?: { delaySeconds?: number }): void;
}

/** The part of a batch of messages that is used. */
export interface QueueBatch {
  readonly queue: string;
  readonly messages: readonly QueueMessage[];
}

/** How many messages of a batch are processed at once: 100 take 10 minutes at most, of 15. */
const MAX_RUNNING = 10;

/** The platform ends an invocation after 15 minutes, and with it what it knows of each message. */
const BATCH_MS = 14 * 60 * 1000;

/** What messages are processed with. */
interface Worker {
  readonly receiver: Dispatching;
  readonly bodies: LargeBodies | undefined;
  readonly tell: Tell;
}

/**
 * Makes the `queue` of a Worker that consumes what {@link cloudflareQueue} has sent, and its dead-letter
 * queue, where a delivery is tried once more, and parked in the receiver's durable store if that fails.
 *
 * @param receiver - A function that makes the receiver from the environment, called once per `env`. Or a
 *   receiver.
 * @throws {UsageError} `receiver_invalid` or `option_invalid`, with what to change.
 *
 * @example
 * const makeReceiver = (env: Env) =>
 *   createReceiver({ secret: env.WEBHOOK_SECRET, queue: cloudflareQueue(env.WEBHOOKS) });
 *
 * export default {
 *   fetch: toWorker(makeReceiver).fetch,
 *   queue: cloudflareWorker(makeReceiver, {
 *     queue: 'webhooks',
 *     deadLetterQueue: 'webhooks-dead',
 *     large: (env) => env.BODIES,
 *   }),
 * };
 */
export function cloudflareWorker<Env>(
  receiver: ReceiverSource<Env, Dispatching>,
  options: CloudflareWorkerOptions<Env>,
): (batch: QueueBatch, env: Env, context?: unknown) => Promise<void> {
  const names = readNames(options);
  const tell = teller();
  const makeReceiver = readSource(receiver, 'dispatch');
  const makeWorker = async (env: Env): Promise<Worker> => ({
    receiver: await makeReceiver(env),
    bodies: options.large && largeBodies(options.large(env)),
    tell,
  });
  const workerOf = makeOnce(makeWorker, { isPerEnv: true });

  return async ({ queue, messages }, env) => {
    const isDead = names.dead.includes(queue);
    if (!isDead && !names.live.includes(queue)) {
      tell(
        'operate.md#queue-unknown',
        `this Worker consumes the queue "${queue}", which cloudflareWorker() has not been told of: ` +
          'name it as its `queue` or its `deadLetterQueue`. Nothing of it is processed until then.',
      );
      for (const message of messages) retry(message, 'dead');
      return;
    }
    const worker = await workerOf(env);
    if (!worker) {
      for (const message of messages) retry(message, isDead ? 'dead' : 'wait');
      return;
    }
    const endAt = performance.now() + BATCH_MS;
    const rest = messages.values();
    const processRest = async () => {
      for (const message of rest) await settle(message, worker, { isDead, endAt });
    };
    await Promise.all(Array.from({ length: MAX_RUNNING }, processRest));
  };
}

/** Never rejects: a message has to be settled by itself, whatever becomes of its neighbours. */
async function settle(
  message: QueueMessage,
  { receiver, bodies, tell }: Worker,
  { isDead, endAt }: { readonly isDead: boolean; readonly endAt: number },
): Promise<void> {
  try {
    const { delivery, offloaded } = fromMessage(message.body);
    const body = offloaded === undefined ? delivery.body : await fetchBody(offloaded, bodies);
    // Cleared: another message about this delivery was done with it.
    if (offloaded !== undefined && body.length === 0) return message.ack();

    const leftMs = endAt - performance.now();
    if (leftMs <= 0) return retry(message, isDead ? 'dead' : 'wait');
    const running = runDelivery(receiver, { ...delivery, body }, { isLast: isDead });
    const result = await withTimeout(running, 'The receiver', leftMs);
    if (result.state !== 'done') {
      if (isDead && result.state === 'retry') warnOfDead(tell, delivery);
      const soonestMs = result.state === 'wait' ? result.retryAfterMs : 0;
      return retry(message, isDead ? 'dead' : result.state, soonestMs);
    }
    message.ack();
    // A message that somebody else has put in may name the body of a delivery that is not done.
    const isDone = result.key === delivery.key && result.outcome !== 'ignored';
    if (offloaded !== undefined && isDone) await clearBody(offloaded, bodies, tell);
  } catch (error) {
    tell(
      'operate.md#message-failed',
      `message ${quoted(message.id)} could not be processed: ${describeError(error)}`,
    );
    retry(message, isDead ? 'dead' : 'retry');
  }
}

/** How long until the next attempt, in seconds: of the first one, and at most. */
const DELAYS = {
  /** Its handler failed: with 10 retries it is given some 3 hours. */
  retry: [15, 12 * 60 * 60],
  /** It could not be tried: it is being processed, or the store is down. */
  wait: [5, 10 * 60],
  /** There is nothing behind a dead-letter queue: 100 retries last for 3 days. */
  dead: [60, 60 * 60],
} as const satisfies Record<string, readonly [first: number, most: number]>;

type DelayKind = keyof typeof DELAYS;

/**
 * Doubles with each attempt. By chance a part of that, so that what has failed together does not come
 * back together.
 *
 * @param attempts - 1 after the first.
 */
function delaySeconds(kind: DelayKind, attempts: number, retryAfterMs = 0): number {
  const [first, most] = DELAYS[kind];
  const delay = Math.min(most, first * 2 ** (attempts - 1));
  return Math.ceil(Math.max(delay * (0.5 + Math.random() / 2), retryAfterMs / 1000));
}

function retry(message: QueueMessage, kind: DelayKind, retryAfterMs?: number): void {
  message.retry({ delaySeconds: delaySeconds(kind, message.attempts, retryAfterMs) });
}

async function fetchBody(name: string, bodies: LargeBodies | undefined): Promise<Uint8Array> {
  if (!bodies) {
    throw new WebhookError(
      'job_invalid',
      'Its body was too large for the message. Give cloudflareWorker() the `large` of cloudflareQueue().',
    );
  }
  const body = await withTimeout(bodies.get(name), 'What keeps large bodies');
  if (body) return body;
  throw new WebhookError(
    'job_invalid',
    `Its body "${name}" is missing. Is the \`large\` of cloudflareWorker() that of cloudflareQueue()?`,
  );
}

/** The delivery is done, whatever becomes of its body. */
async function clearBody(name: string, bodies: LargeBodies | undefined, tell: Tell): Promise<void> {
  try {
    if (bodies) await withTimeout(bodies.clear(name), 'What keeps large bodies');
  } catch (error) {
    tell(
      'operate.md#body-kept',
      `the body ${quoted(name)} could not be deleted: ${describeError(error)}`,
    );
  }
}

function warnOfDead(tell: Tell, { id, event }: { id: string; event: string }): void {
  tell(
    'operate.md#not-parked',
    `delivery ${quoted(id)} (${quoted(event)}) came out of the dead-letter queue, failed ` +
      'again, and could not be parked: give the receiver a durable store before the queue drops it.',
  );
}
