import { UsageError } from '../errors/errors.js';
import { teller } from '../errors/rate-limit.js';
import { describeError } from '../errors/text.js';
import { toResponse, type WebhookResponse } from '../request/outcome.js';
import type { WebhookRequest } from '../request/request.js';
import { nameType } from '../runtime/bytes.js';
import { withTimeout } from '../runtime/timing.js';

/** A receiver or goods: anything that an adapter can mount. */
export interface Mountable {
  receive(request: WebhookRequest): Promise<WebhookResponse<string | Uint8Array>>;
}

/** A receiver, or a function that creates one from the `env` of its platform, in which Workers keep secrets. */
export type ReceiverSource<Env = void, Kind = Mountable> =
  | Kind
  | ((env: Env) => Kind | Promise<Kind>);

/**
 * Returns a function that creates the receiver of a source.
 *
 * @param method - A method that the receiver has to have.
 * @throws {UsageError} `receiver_invalid` if the source is neither a receiver nor a function.
 */
export function readSource<Env, Kind>(
  source: ReceiverSource<Env, Kind>,
  method: keyof Kind & string,
): (env: Env) => Promise<Kind> {
  const isReceiver = (given: unknown): given is Kind => typeof Object(given)[method] === 'function';
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
    `Pass a receiver, or a function that returns one, not ${type}.`,
  );
}

/**
 * Creates a receiver, or an object that contains one, at its first use, within 10 s. If that fails, logs the error
 * on stderr, and tries again at the next use.
 *
 * @param options.isPerEnv - Creates one for each `env`. Default: one for all.
 * @returns A function that returns the object, or `undefined` if it could not be created.
 */
export function makeOnce<Env, Made extends object>(
  make: (env: Env) => Promise<Made>,
  { isPerEnv = false }: { readonly isPerEnv?: boolean } = {},
): (env: Env) => Promise<Made | undefined> {
  const tell = teller();
  const made = new WeakMap<object, Made>();
  const making = new WeakMap<object, Promise<Made>>();
  return async (env) => {
    const key = isPerEnv && typeof env === 'object' && env !== null ? env : made;
    const known = made.get(key);
    if (known) return known;
    const awaited = making.get(key) ?? make(env);
    making.set(key, awaited);
    try {
      // Each request has a timeout of its own: the request that began may have been cancelled, with its timers.
      const created = await withTimeout(awaited, 'The function that creates the receiver');
      // After a timeout, two calls may run. All requests use the receiver of the one that ends first.
      made.set(key, made.get(key) ?? created);
    } catch (error) {
      // Only the first of the waiting requests logs the error and resets the state.
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

/** Passes a request to a receiver. */
export type Receive<Env = void> = (
  request: WebhookRequest,
  env: Env,
) => Promise<WebhookResponse<string | Uint8Array>>;

/**
 * Returns the `receive` of a source. If its receiver cannot be created, the response is 500.
 *
 * @throws {UsageError} `receiver_invalid` if the source is neither a receiver nor a function.
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
