import { WebhookError } from '../../errors/errors.js';
import { quoted } from '../../errors/log.js';
import { type Tell, teller } from '../../errors/rate-limit.js';
import { describeError } from '../../errors/text.js';
import { INTERNALS, type Internals } from '../../process/internals.js';
import { makeOnce, type ReceiverSource, readSource } from '../../process/receiver-source.js';
import { CALL_MS, withTimeout } from '../../runtime/timing.js';
import { type Dispatching, runDelivery } from '../run-job.js';
import { type LargeBodies, largeBodies } from './large-bodies.js';
import { fromMessage } from './message.js';
import { type CloudflareWorkerOptions, readNames } from './worker-options.js';

// Declared here, so that no version of Cloudflare's types is needed.

/** The part of a queue message that is used. */
export interface QueueMessage {
  readonly id: string;
  readonly body: unknown;
  /** 1 for the first attempt. */
  readonly attempts: number;
  ack(): void;
  retry(options?: { delaySeconds?: number }): void;
}

/** The part of a batch of messages that is used. */
export interface QueueBatch {
  readonly queue: string;
  readonly messages: readonly QueueMessage[];
}

/**
 * How many messages of a batch are processed at once. If the store fails when their handlers have run, as D1 does when the
 * invocation has used up its queries, no more than these lack a record. Cloudflare starts more invocations for a backlog.
 */
const MAX_RUNNING = 4;

/** The platform ends an invocation after 15 minutes, and then forgets which of its messages are settled. */
const BATCH_MS = 14 * 60 * 1000;

/** The receiver of a Worker, with its storage for large bodies and its log. */
interface Worker {
  readonly receiver: Dispatching;
  readonly bodies: LargeBodies | undefined;
  readonly tell: Tell;
}

/**
 * Makes the `queue` function of a Worker that consumes the messages of {@link cloudflareQueue} and of its
 * dead-letter queue. The receiver tries a delivery in the dead-letter queue once more; if that fails, it parks the
 * delivery in its durable store.
 *
 * @param receiver - A receiver, or a function that makes one from the environment, called once per `env`.
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
        `this Worker consumes the queue "${queue}", which cloudflareWorker() does not know: name the queue as ` +
          '`queue` or `deadLetterQueue`. Until then, its messages use up their retries: the queue then drops ' +
          'them, or moves them to its own dead-letter queue.',
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
    let isHeld = false;
    const processRest = async () => {
      for (const message of rest) {
        if (isHeld) {
          retry(message, isDead ? 'dead' : 'wait');
          continue;
        }
        await settle(message, worker, { isDead, endAt });
        if (!hasUnrecorded(worker.receiver)) continue;
        // The store does not know what was delivered, and may deliver it again, so no more is delivered meanwhile.
        await waitForRecords(worker.receiver, CALL_MS);
        isHeld ||= hasUnrecorded(worker.receiver);
      }
    };
    await Promise.all(Array.from({ length: MAX_RUNNING }, processRest));
    // The platform stops late records with this invocation.
    await waitForRecords(worker.receiver, endAt - performance.now());
  };
}

type Recording = Dispatching & { readonly [INTERNALS]?: Pick<Internals, 'processing'> };

function hasUnrecorded(receiver: Recording): boolean {
  return (receiver[INTERNALS]?.processing.unrecorded ?? 0) > 0;
}

/** Waits for late work and its records, for at most this long. */
async function waitForRecords(receiver: Recording, ms: number): Promise<void> {
  const late = receiver[INTERNALS]?.processing.recording;
  if (late) await withTimeout(late, '', ms).catch(() => {});
}

/** Processes one message and settles it. Never rejects, so that the other messages of the batch go on. */
async function settle(
  message: QueueMessage,
  { receiver, bodies, tell }: Worker,
  { isDead, endAt }: { readonly isDead: boolean; readonly endAt: number },
): Promise<void> {
  try {
    const { delivery, offloaded } = fromMessage(message.body);
    const body = offloaded === undefined ? delivery.body : await fetchBody(offloaded, bodies);
    // The body was cleared: another message about this delivery has completed it.
    if (offloaded !== undefined && body.length === 0) return message.ack();

    const leftMs = endAt - performance.now();
    if (leftMs <= 0) return retry(message, isDead ? 'dead' : 'wait');
    const running = runDelivery(receiver, { ...delivery, body }, { isLast: isDead });
    const result = await withTimeout(running, 'The receiver', leftMs);
    if (result.state !== 'done') {
      if (isDead) warnOfDead(tell, delivery, result.state);
      const soonestMs = result.state === 'wait' ? result.retryAfterMs : 0;
      return retry(message, isDead ? 'dead' : result.state, soonestMs);
    }
    message.ack();
    // A forged message may name the body of a delivery that is not done.
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

/** The pause before the next attempt, in seconds: the first pause, and the longest. */
const DELAYS = {
  /** The handler failed: 10 retries take some 3 hours. */
  retry: [15, 12 * 60 * 60],
  /** Another worker is processing the delivery, or the store is down. */
  wait: [5, 10 * 60],
  /**
   * After the dead-letter queue, a message is lost: 100 retries last for 3 days, the default of 3 for 7 minutes. On Workers
   * Free, a queue keeps a message for 24 hours at most.
   */
  dead: [60, 60 * 60],
} as const satisfies Record<string, readonly [first: number, most: number]>;

type DelayKind = keyof typeof DELAYS;

/**
 * Returns a pause that doubles with each attempt, shortened at random, so that messages that failed together are
 * not retried together.
 *
 * @param attempts - 1 after the first attempt.
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
      'Its body was too large for the message. Pass cloudflareWorker() the `large` of cloudflareQueue().',
    );
  }
  const body = await withTimeout(bodies.get(name), 'The storage of large bodies');
  if (body) return body;
  throw new WebhookError(
    'job_invalid',
    `Its body "${name}" is missing. Check that cloudflareWorker() has the same \`large\` as cloudflareQueue().`,
  );
}

/** Deletes the body of a delivery that is done. A failure is only logged. */
async function clearBody(name: string, bodies: LargeBodies | undefined, tell: Tell): Promise<void> {
  try {
    if (bodies) await withTimeout(bodies.clear(name), 'The storage of large bodies');
  } catch (error) {
    tell(
      'operate.md#body-kept',
      `the body ${quoted(name)} could not be deleted: ${describeError(error)}`,
    );
  }
}

function warnOfDead(
  tell: Tell,
  { id, event }: { id: string; event: string },
  state: 'retry' | 'wait',
): void {
  const why =
    state === 'retry'
      ? 'failed again, and could not be parked. Give the receiver a durable store before the queue drops the ' +
        'delivery.'
      : 'and could not be run or parked yet: the store is down, or another worker is processing it. The queue drops ' +
        'the delivery when its retries are used up: give the consumer of the dead-letter queue "max_retries": 100.';
  tell(
    'operate.md#not-parked',
    `delivery ${quoted(id)} (${quoted(event)}) came out of the dead-letter queue, ${why}`,
  );
}
