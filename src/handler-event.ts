import type { Delivery } from './delivery.js';
import type { WebhookEvent } from './handler.js';
import type { Lease } from './lease.js';
import { createOnce, type Once } from './once.js';

/** What one handler is given of one delivery, under the lease that it runs on. */
export class HandlerEvent implements WebhookEvent<string, unknown> {
  readonly id: string;
  readonly event: string;
  readonly payload: unknown;
  readonly issues: Delivery['issues'];
  readonly rawBody: Uint8Array;
  readonly scope: string;
  readonly attempt: number;
  readonly receivedAt: Date;
  readonly source: Delivery['source'];
  readonly once: Once;
  readonly #lease: Lease;

  constructor(delivery: Delivery, attempt: number, handler: string, lease: Lease) {
    this.id = delivery.id;
    this.event = delivery.event;
    this.payload = delivery.payload;
    this.issues = delivery.issues;
    this.rawBody = delivery.rawBody;
    this.scope = delivery.scope;
    this.attempt = attempt;
    this.receivedAt = delivery.receivedAt;
    this.source = delivery.source;
    this.once = createOnce(handler, lease);
    this.#lease = lease;
  }

  get signal(): AbortSignal {
    return this.#lease.signal;
  }
}
