import type { Delivery } from '../request/delivery.js';
import type { WebhookEvent } from './handler.js';
import type { Lease } from './lease.js';
import { createOnce, type Once } from './once.js';

/** What one handler is given of one delivery, under the lease that it runs on. */
export class HandlerEvent implements WebhookEvent<string, unknown> {
  readonly id: string;
  readonly event: string;
  readonly payload: unknown;
  readonly key: string;
  readonly handler: string;
  readonly issues: Delivery['issues'];
  readonly scope: string;
  readonly attempt: number;
  readonly receivedAt: Date;
  readonly source: Delivery['source'];
  readonly #lease: Lease;
  readonly #body: Uint8Array;
  #rawBody: Uint8Array | undefined;
  #once: Once | undefined;

  /**
   * @param payload - The handler's own, to write to.
   * @param attempt - That of the delivery; `lease` may be an effect's.
   */
  constructor(
    delivery: Delivery,
    payload: unknown,
    attempt: number,
    handler: string,
    lease: Lease,
  ) {
    this.id = delivery.id;
    this.event = delivery.event;
    this.payload = payload;
    this.key = lease.key;
    this.handler = handler;
    this.issues = delivery.issues.map((issue) => ({ ...issue }));
    this.scope = delivery.scope;
    this.attempt = attempt;
    this.receivedAt = new Date(delivery.receivedAt);
    this.source = delivery.source;
    this.#lease = lease;
    this.#body = delivery.rawBody;
  }

  // Made at first use: most handlers look at none of them.

  /** Its own: the store may still have to keep what came. */
  get rawBody(): Uint8Array {
    // A Buffer has a slice of its own, which shares the bytes.
    this.#rawBody ??= Uint8Array.prototype.slice.call(this.#body);
    return this.#rawBody;
  }

  get once(): Once {
    this.#once ??= createOnce(this.handler, this.#lease);
    return this.#once;
  }

  get signal(): AbortSignal {
    return this.#lease.signal;
  }
}
