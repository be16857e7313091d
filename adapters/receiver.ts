import type { Reply, WebhookRequest } from '../src/index.js';

/** What an adapter needs of a receiver. */
export interface Receiving {
  receive(request: WebhookRequest): Promise<Reply>;
}

/** A receiver, or a function that makes one at the first request. */
export type ReceiverSource = Receiving | (() => Receiving | Promise<Receiving>);

/** Gives the receiver, making it once; a function that fails is asked again at the next request. */
export function toProvider(source: ReceiverSource): () => Promise<Receiving> {
  let made: Promise<Receiving> | undefined;
  return () => {
    made ??= make(source).catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

async function make(source: ReceiverSource): Promise<Receiving> {
  return typeof source === 'function' ? source() : source;
}
