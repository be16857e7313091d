import type { Reply, WebhookRequest } from '../src/index.js';

/** What an adapter needs of a receiver. */
export interface Receiving {
  receive(request: WebhookRequest): Promise<Reply>;
}

/** A receiver, or a function that makes one at the first request. */
export type ReceiverSource = Receiving | (() => Receiving | Promise<Receiving>);

/** Gives the receiver, making it once. */
export function toProvider(source: ReceiverSource): () => Receiving | Promise<Receiving> {
  if (typeof source !== 'function') return () => source;
  let made: Receiving | Promise<Receiving> | undefined;
  return () => {
    made ??= source();
    return made;
  };
}
