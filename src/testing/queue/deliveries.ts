import { randomBytes } from 'node:crypto';
import type { ReceiverOptions } from '../../options.js';
import type { Result, WebhookResponse } from '../../outcome.js';
import type { HandOff } from '../../process/hand-off.js';
import type { Dispatching } from '../../queues/run-job.js';
import { createReceiver, type Receiver } from '../../receiver.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { contentOf, deliveryKey } from '../../request/key.js';
import type { SecretFunction } from '../../request/secret-source.js';
import { sign } from '../../request/signature.js';

export const SECRET = 'a secret for tests';

const ORDER = {
  id: 'ord_1',
  status: 100,
  email: 'buyer@example.com',
  updated_at: '2026-11-20T10:00:05.000000+00:00',
};
const BODY = new TextEncoder().encode(JSON.stringify(ORDER));

/** For a worker of all shops: each test has deliveries of a scope of its own, named in a header. */
export const ofAnyShop: SecretFunction = ({ headers }) => {
  const scope: unknown = Reflect.get(headers, 'x-shop');
  return { secret: SECRET, scope: typeof scope === 'string' ? scope : '' };
};

/** A receiver that says nothing of what goes wrong. */
export function newReceiver({
  hooks,
  ...options
}: Omit<ReceiverOptions, 'secret' | 'events'>): Receiver {
  const secret = options.scope === undefined ? ofAnyShop : SECRET;
  return createReceiver({ secret, ...options, hooks: { onError() {}, ...hooks } });
}

/** A delivery as it comes out of a receiver, signed, whatever is changed about it. */
export function newDelivery(parts: Partial<SealedDelivery> = {}): SealedDelivery {
  const name = randomBytes(4).toString('hex');
  const sealed = {
    scope: `shop-${name}`,
    id: `whl_${name}`,
    event: 'order:paid',
    receivedAt: 1_790_000_000_000,
    body: BODY,
    ...parts,
  };
  const headers = { 'x-shop': sealed.scope };
  return {
    key: deliveryKey('delivery', { ...sealed, content: contentOf(ORDER, sealed.body) }),
    proof: JSON.stringify({ signature: sign(sealed.body, SECRET), url: '/webhooks', headers }),
    ...sealed,
  };
}

/** Sends a receiver a paid order, the same each time. */
export function sendOrder(receiver: Receiver): Promise<WebhookResponse> {
  return receiver.receive({
    method: 'POST',
    url: '/webhooks',
    headers: {
      'x-service-event': 'order:paid',
      'x-service-webhook': 'whl_1',
      'x-service-signature': sign(BODY, SECRET),
    },
    body: BODY,
  });
}

export function enqueue(queue: HandOff<unknown>, delivery: SealedDelivery) {
  return queue.enqueue(delivery, { key: delivery.key, signal: new AbortController().signal });
}

export function redrive(queue: HandOff<unknown>, delivery: SealedDelivery) {
  if (!queue.redrive) throw new Error('This queue redrives nothing.');
  return queue.redrive(delivery, { key: delivery.key, signal: new AbortController().signal });
}

/** Stands in for a receiver: keeps what it is given, and says that each delivery was handled. */
export class StandIn implements Dispatching {
  readonly given: { readonly delivery: SealedDelivery; readonly lastAttempt: boolean }[] = [];
  readonly #first: (() => Promise<'handled' | 'parked'>) | undefined;

  /** @param first - What it does with the first one instead. */
  constructor(first?: () => Promise<'handled' | 'parked'>) {
    this.#first = first;
  }

  async dispatch(
    delivery: SealedDelivery,
    { lastAttempt }: { readonly lastAttempt: boolean },
  ): Promise<Result> {
    this.given.push({ delivery, lastAttempt });
    const outcome = this.#first && this.given.length === 1 ? await this.#first() : 'handled';
    return { outcome, ran: [] };
  }
}
