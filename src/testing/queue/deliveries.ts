import { randomBytes } from 'node:crypto';
import { createReceiver } from '../../create-receiver.js';
import type { ReceiverOptions } from '../../process/options.js';
import type { HandOff } from '../../process/queue.js';
import type { Dispatching } from '../../queues/run-job.js';
import type { Receiver } from '../../receiver.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { contentOf, deliveryKey } from '../../request/key.js';
import type { Result, WebhookResponse } from '../../request/outcome.js';
import type { SecretFunction } from '../../request/secrets.js';
import { sign } from '../../request/signature.js';
import { toUtf8 } from '../../runtime/bytes.js';

export const SECRET = 'a secret for tests';

const ORDER = {
  id: 'ord_1',
  status: 100,
  email: 'buyer@example.com',
  updated_at: '2026-11-20T10:00:05.000000+00:00',
};
const BODY = toUtf8(JSON.stringify(ORDER));

/**
 * The secret of a worker that serves all shops. Each test has deliveries of its own scope, named in a header.
 */
export const ofAnyShop: SecretFunction = ({ headers }) => {
  const scope: unknown = Reflect.get(headers, 'x-shop');
  return { secret: SECRET, scope: typeof scope === 'string' ? scope : '' };
};

/** Makes a receiver that does not report errors. */
export function newReceiver({
  hooks,
  ...options
}: Omit<ReceiverOptions, 'secret' | 'events'>): Receiver {
  const secret = options.scope === undefined ? ofAnyShop : SECRET;
  return createReceiver({ secret, ...options, hooks: { onError() {}, ...hooks } });
}

/** Makes a signed delivery as a receiver hands it off, with some parts replaced. */
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

/** Sends a paid order to a receiver, the same one each time. */
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
  if (!queue.redrive) throw new Error('This queue has no redrive.');
  return queue.redrive(delivery, { key: delivery.key, signal: new AbortController().signal });
}

/** A stand-in for a receiver: records the deliveries that it is given, and reports each one as handled. */
export class StandIn implements Dispatching {
  readonly given: { readonly delivery: SealedDelivery; readonly lastAttempt: boolean }[] = [];
  readonly #first: (() => Promise<'handled' | 'parked'>) | undefined;

  /**
   * Creates a stand-in.
   *
   * @param first - The action on the first delivery instead.
   */
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
