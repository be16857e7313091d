import { UsageError } from './errors.js';
import { toResponse, type WebhookResponse } from './outcome.js';
import { teller } from './report/limited.js';
import { describeError } from './report/text.js';
import { nameType } from './request/bytes.js';
import type { WebhookRequest } from './request/request.js';
import { withTimeout } from './timing.js';

/** What an adapter mounts: a receiver, or goods. */
export interface Mountable {
  receive(request: WebhookRequest): Promise<WebhookResponse<string | Uint8Array>>;
}

/** A receiver, or a function that makes one of what its platform hands over: Workers keep secrets in `env`. */
export type ReceiverSource<Env = void, Kind = Mountable> =
  | Kind
  | ((env: Env) => Kind | Promise<Kind>);

/**
 * Gives a function that makes the receiver of a source.
 *
 * @param method - What has to be there of the receiver.
 * @throws {UsageError} `receiver_invalid` where the source is neither a receiver nor a function.
 */
export function readSource<Env, Kind>(
  source: ReceiverSource<Env, Kind>,
  method: keyof Kind & string,
): (env: Env) => Promise<Kind> {
  const isReceiver = (given: unknown): given is Kind =>
    typeof given === 'object' && given !== null && typeof Reflect.get(given, method) === 'function';
  if (isReceiver(source)) return async () => source;
  if (typeof source !== 'function') throw notReceiver(source);
  return async (env) => {
    const given = await source(env);
    if (!isReceiver(given)) throw notReceiver(given);
    return given;
  };
}

function notReceiver(given: unknown): UsageError {
  const type = given instanceof Promise ? 'a promise: await it' : nameType(given);
  return new UsageError(
    'receiver_invalid',
    `This takes a receiver, or a function that returns one, and was given ${type}.`,
  );
}

/**
 * Makes a receiver, or what it is part of, at its first use, within 10 s. Where that fails it is told on
 * stderr, and made again at the next use.
 *
 * @param options.isPerEnv - Makes one for each `env`. Default: one for all.
 * @returns A function that gives what was made, or `undefined` where it could not be.
 */
export function makeOnce<Env, Made>(
  make: (env: Env) => Promise<Made>,
  { isPerEnv = false }: { readonly isPerEnv?: boolean } = {},
): (env: Env) => Promise<Made | undefined> {
  const tell = teller();
  const made = new WeakMap<object, Made>();
  const making = new WeakMap<object, Promise<Made>>();
  return async (env) => {
    const key = isPerEnv && typeof env === 'object' && env !== null ? env : made;
    const known = made.get(key);
    if (known !== undefined) return known;
    const awaited = making.get(key) ?? make(env);
    making.set(key, awaited);
    try {
      // Each waits for itself: whoever began it may have been cancelled, and its timers with it.
      made.set(key, await withTimeout(awaited, 'The function that makes it'));
    } catch (error) {
      // Whoever else has waited for it finds it told and forgotten.
      if (making.get(key) === awaited) {
        making.delete(key);
        tell(
          'operate.md#receiver-failed',
          `the receiver could not be made: ${describeError(error)}`,
        );
      }
    }
    return made.get(key);
  };
}

/** Hands a request to a receiver. */
export type Receive<Env = void> = (
  request: WebhookRequest,
  env: Env,
) => Promise<WebhookResponse<string | Uint8Array>>;

/**
 * Gives the `receive` of a source. While its receiver cannot be made, the response is that of one that failed.
 *
 * @throws {UsageError} `receiver_invalid` where the source is neither a receiver nor a function.
 */
export function toReceive<Env = void>(
  source: ReceiverSource<Env>,
  options?: { readonly isPerEnv?: boolean },
): Receive<Env> {
  const make = readSource(source, 'receive');
  if (typeof source !== 'function') return (request) => source.receive(request);
  const receiverFor = makeOnce(make, options);
  return async (request, env) => {
    const receiver = await receiverFor(env);
    return receiver?.receive(request) ?? toResponse({ outcome: 'failed', ran: [] });
  };
}
