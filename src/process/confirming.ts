import { WebhookError } from '../errors.js';
import { harmless } from '../report/harmless.js';
import type { Delivery } from '../request/delivery.js';
import type { Issue } from '../schemas/issue.js';
import { isJsonObject } from '../schemas/json.js';
import type { Settings } from '../settings.js';
import { withTimeout } from '../timing.js';
import type { Confirm, Confirmation, StatedOrder } from './confirm.js';

/** Longer than `confirmOrders()` takes, and less than a sender waits. */
const CONFIRM_MS = 7_000;
/** What was accepted unseen is told so often. */
const TELL_MS = 60_000;

/** Whether the handlers of a delivery may run. */
export type Permission =
  | { readonly state: 'run' | 'unavailable' }
  | { readonly state: 'disagreed'; readonly issues: readonly Issue[] };

const STATES: readonly Confirmation['state'][] = ['agreed', 'disagreed', 'unavailable'];
const RUN: Permission = { state: 'run' };

/** Has the orders of deliveries confirmed before their handlers run. */
export class Confirming {
  readonly #settings: Pick<Settings, 'confirm' | 'paidStatuses' | 'telemetry'>;
  readonly #onError: (error: WebhookError, delivery: Delivery) => void;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    settings: Pick<Settings, 'confirm' | 'paidStatuses' | 'telemetry'>,
    onError: (error: WebhookError, delivery: Delivery) => void,
  ) {
    this.#settings = settings;
    this.#onError = onError;
  }

  /** Never rejects. */
  async ask(delivery: Delivery): Promise<Permission> {
    const { confirm, paidStatuses, telemetry } = this.#settings;
    const { event, scope, payload } = delivery;
    // What does not fit its event is for a person in any case.
    if (!confirm || delivery.kind === 'invalid' || !event.startsWith('order:')) return RUN;
    if (!hasTextId(payload)) return RUN;
    const found = await find(confirm, { payload, event, scope, paidStatuses });
    const isKept = found.state === 'agreed' && found.kept;
    harmless(() => telemetry?.confirmed?.(isKept ? 'kept' : found.state));
    if (found.state === 'agreed') return RUN;
    if (found.state === 'disagreed') return found;
    this.#tell(found, delivery);
    return found.accepts ? RUN : { state: 'unavailable' };
  }

  #tell({ cause, accepts }: Unavailable, delivery: Delivery): void {
    if (accepts && performance.now() - this.#toldAt < TELL_MS) return;
    if (accepts) this.#toldAt = performance.now();
    const what = accepts ? 'Its handlers run all the same' : 'It is answered 503 and comes again';
    const message = `The order could not be confirmed. ${what}.`;
    this.#onError(new WebhookError('confirmation_unavailable', message, { cause }), delivery);
  }
}

type Unavailable = Extract<Confirmation, { state: 'unavailable' }>;

async function find(confirm: Confirm, order: StatedOrder): Promise<Confirmation> {
  try {
    const found = await withTimeout(ask(), 'What confirms orders', CONFIRM_MS);
    if (STATES.includes(found?.state)) return found;
    throw new TypeError(`What confirms orders has to say one of ${STATES.join(', ')}.`);
  } catch (cause) {
    return { state: 'unavailable', cause, accepts: false };
  }

  // A function of the user's may throw before there is a promise.
  async function ask() {
    return confirm(order);
  }
}

function hasTextId(payload: unknown): payload is StatedOrder['payload'] {
  return isJsonObject(payload) && typeof payload.id === 'string';
}
