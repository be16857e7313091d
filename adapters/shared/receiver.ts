import type { UsageErrorCode, WebhookRequest, WebhookResponse } from '../../src/index.js';

/** What an adapter needs of a receiver. */
export interface Receiving {
  receive(request: WebhookRequest): Promise<WebhookResponse>;
}

/** A receiver, or a function that makes one at the first request. */
export type ReceiverSource<Env = void> = Receiving | ((env: Env) => Receiving | Promise<Receiving>);

/** What an adapter says of itself. */
export interface Mount {
  /** Which line to change where something has read the body before. */
  readonly parsedBodyHint: string;
}

/** Hands a request to a receiver. `env` is what the receiver's function is given, if it is to be made. */
export type Receive<Env = void> = (request: WebhookRequest, env: Env) => Promise<WebhookResponse>;

/** The longest that a function may take to make a receiver. */
const MAKE_MS = 10_000;

/**
 * Gives the `receive` of a receiver that may still have to be made. One that cannot be made is told on
 * stderr, answered like any receiver that is set up wrong, and made again at the next request.
 *
 * @throws {TypeError} Where the source is neither a receiver nor a function.
 */
export function toReceive<Env = void>(source: ReceiverSource<Env>): Receive<Env> {
  if (typeof source !== 'function') {
    const receiver = checkReceiver(source);
    return (request) => receiver.receive(request);
  }
  let made: Promise<Receiving | undefined> | undefined;
  const tell = teller();
  return async (request, env) => {
    made ??= withTimeout(Promise.resolve().then(() => source(env)))
      .then(checkReceiver)
      .catch((error) => {
        made = undefined;
        tell(error);
        return undefined;
      });
    return (await made)?.receive(request) ?? NOT_MADE;
  };
}

const MINUTE_MS = 60_000;
const MAX_TOLD = 10;

/** Ten a minute: each request tries again, and anybody may send them. */
function teller(): (error: unknown) => void {
  let since = performance.now();
  let told = 0;
  return (error) => {
    if (performance.now() - since > MINUTE_MS) {
      since = performance.now();
      told = 0;
    }
    told += 1;
    if (told > MAX_TOLD) return;
    try {
      console.error(`storefront-webhooks: the receiver could not be made: ${describe(error)}`);
    } catch {
      // A console may be anybody's.
    }
  };
}

function checkReceiver(given: unknown): Receiving {
  if (isReceiving(given)) return given;
  const message = `An adapter takes a receiver, or a function that returns one, and was given ${
    given instanceof Promise ? 'a promise: await it' : given === null ? 'null' : typeof given
  }.`;
  const code: UsageErrorCode = 'receiver_invalid';
  throw Object.assign(new TypeError(message), { code });
}

function isReceiving(given: unknown): given is Receiving {
  return (
    typeof given === 'object' &&
    given !== null &&
    'receive' in given &&
    typeof given.receive === 'function'
  );
}

// The core has the like of these two, but adapters know its types only.

function withTimeout<Value>(promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`its function took longer than ${MAKE_MS} ms.`));
    }, MAKE_MS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** One line, whatever the error says or does. */
function describe(error: unknown): string {
  try {
    const text = JSON.stringify(String(error).slice(0, 1000));
    return text.replace(/[^\x20-\x7e]/g, (character) => {
      return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
  } catch {
    return 'an error that cannot be written down';
  }
}

const NOT_MADE: WebhookResponse = {
  status: 500,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: '{"message":"The webhook could not be handled. Send it again.","outcome":"failed"}',
  outcome: 'failed',
  ran: [],
};
