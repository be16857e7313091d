import { UsageError } from './errors.js';
import { toResponse, type WebhookResponse } from './outcome.js';
import type { Receiver } from './receiver.js';
import { teller } from './report/limited.js';
import { describeError } from './report/text.js';
import { nameType } from './request/bytes.js';
import type { WebhookRequest } from './request/request.js';
import { withTimeout } from './timing.js';

/** A receiver, or a function that makes one of what its platform hands over: Workers keep secrets in `env`. */
export type ReceiverSource<Env = void, Kind = Pick<Receiver, 'receive'>> =
  | Kind
  | ((env: Env) => Kind | Promise<Kind>);

interface ReadOptions<Kind> {
  /** What is needed of the receiver. */
  readonly method: keyof Kind & string;
  /** Whether each `env` has a receiver of its own. Default: all have one. */
  readonly isPerEnv?: boolean;
}

/**
 * Gives the receiver of a source, which is made at its first use, within 10 s. Where that fails it is told
 * on stderr, and made again at the next use.
 *
 * @returns A function that gives the receiver, or `undefined` where it could not be made.
 * @throws {UsageError} `receiver_invalid` where the source is neither a receiver nor a function.
 */
export function readSource<Env, Kind>(
  source: ReceiverSource<Env, Kind>,
  { method, isPerEnv = false }: ReadOptions<Kind>,
): (env: Env) => Promise<Kind | undefined> {
  const isReceiver = (given: unknown): given is Kind =>
    typeof given === 'object' && given !== null && typeof Reflect.get(given, method) === 'function';
  if (isReceiver(source)) return async () => source;
  if (typeof source !== 'function') throw notReceiver(source);

  const tell = teller();
  const made = new WeakMap<object, Promise<Kind>>();
  const make = async (env: Env) => {
    const given = await source(env);
    if (!isReceiver(given)) throw notReceiver(given);
    return given;
  };
  return async (env) => {
    const key = isPerEnv && typeof env === 'object' && env !== null ? env : made;
    const making = made.get(key) ?? make(env);
    made.set(key, making);
    try {
      // Each waits for itself: whoever began it may have been cancelled, and its timers with it.
      return await withTimeout(making, 'The function that makes it');
    } catch (error) {
      // Whoever else has waited for it finds it told and forgotten.
      if (made.get(key) === making) {
        made.delete(key);
        tell('receiver', `the receiver could not be made: ${describeError(error)}`);
      }
      return undefined;
    }
  };
}

function notReceiver(given: unknown): UsageError {
  const type = given instanceof Promise ? 'a promise: await it' : nameType(given);
  return new UsageError(
    'receiver_invalid',
    `This takes a receiver, or a function that returns one, and was given ${type}.`,
  );
}

/** Hands a request to a receiver. */
export type Receive<Env = void> = (request: WebhookRequest, env: Env) => Promise<WebhookResponse>;

/**
 * Gives the `receive` of a source. While its receiver cannot be made, the response is that of one that failed.
 *
 * @throws {UsageError} `receiver_invalid` where the source is neither a receiver nor a function.
 */
export function toReceive<Env = void>(
  source: ReceiverSource<Env>,
  options: { readonly isPerEnv?: boolean } = {},
): Receive<Env> {
  const receiverFor = readSource(source, { method: 'receive', ...options });
  return async (request, env) => {
    const receiver = await receiverFor(env);
    return receiver?.receive(request) ?? toResponse({ outcome: 'failed', ran: [] });
  };
}
