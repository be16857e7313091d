import type { Reply, WebhookRequest } from '../../src/index.js';

/** What an adapter needs of a receiver. */
export interface Receiving {
  receive(request: WebhookRequest): Promise<Reply>;
}

/** A receiver, or a function that makes one at the first request. */
export type ReceiverSource<Env = void> = Receiving | ((env: Env) => Receiving | Promise<Receiving>);

/** What an adapter says of itself. */
export interface Mount {
  /** Which line to change where something has read the body before. */
  readonly parsedBodyHint: string;
  /** Stores of the platform's, where its instances come and go. */
  readonly durableStores?: string;
}

/** Hands a request to a receiver. `env` is what the receiver's function is given, if it is to be made. */
export type Receive<Env = void> = (request: WebhookRequest, env: Env) => Promise<Reply>;

/**
 * Gives the `receive` of a receiver that may still have to be made. One that cannot be made is told on
 * stderr, answered like any receiver that is set up wrong, and made again at the next request.
 */
export function toReceive<Env = void>(source: ReceiverSource<Env>): Receive<Env> {
  if (typeof source !== 'function') return (request) => source.receive(request);
  let made: Promise<Receiving> | undefined;
  return async (request, env) => {
    made ??= Promise.resolve().then(() => source(env));
    let receiver: Receiving;
    try {
      receiver = await made;
    } catch (error) {
      made = undefined;
      // As JSON: one line, whatever the error says.
      console.error(
        `storefront-webhooks: the receiver could not be made: ${JSON.stringify(String(error))}`,
      );
      return NOT_MADE;
    }
    return receiver.receive(request);
  };
}

const NOT_MADE: Reply = {
  status: 500,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: '{"message":"The webhook could not be handled. Send it again.","outcome":"failed"}',
  outcome: 'failed',
  ran: [],
};
