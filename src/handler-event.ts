import type { Delivery } from './delivery.js';
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
  readonly rawBody: Uint8Array;
  readonly scope: string;
  readonly attempt: number;
  readonly receivedAt: Date;
  readonly source: Delivery['source'];
  readonly #lease: Lease;
  #once: Once | undefined;

  /** @param attempt - That of the delivery; `lease` may be an effect's. */
  constructor(delivery: Delivery, attempt: number, handler: string, lease: Lease) {
    this.id = delivery.id;
    this.event = delivery.event;
    this.payload = delivery.payload;
    this.key = lease.key;
    this.handler = handler;
    this.issues = delivery.issues;
    this.rawBody = delivery.rawBody;
    this.scope = delivery.scope;
    this.attempt = attempt;
    this.receivedAt = delivery.receivedAt;
    this.source = delivery.source;
    this.#lease = lease;
  }

  // Both made at first use: most handlers look at neither.

  get once(): Once {
    this.#once ??= createOnce(this.handler, this.#lease);
    return this.#once;
  }

  get signal(): AbortSignal {
    return this.#lease.signal;
  }
}
