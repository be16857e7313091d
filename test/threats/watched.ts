import {
  createReceiver,
  type Handler,
  type Hooks,
  memoryStore,
  type ReceiverOptions,
  type WebhookEvent,
  type WebhookRequest,
} from 'storefront-webhooks';
import { loadFixture, sign } from 'storefront-webhooks/testing';
import { vi } from 'vitest';

export const secret = 'a secret for tests';

type Options = Omit<ReceiverOptions<Record<never, never>>, 'secret' | 'hooks'> & {
  secret?: ReceiverOptions['secret'];
};

/** A receiver with one handler for every known event, with spies on its handler, claims and hooks. */
export function watched(options: Options = {}) {
  const store = options.store ?? memoryStore();
  const claim = vi.spyOn(store, 'claim');
  const handler = vi.fn<Handler<WebhookEvent<string, unknown>>>();
  const onRejected = vi.fn<NonNullable<Hooks['onRejected']>>();
  const onError = vi.fn<NonNullable<Hooks['onError']>>();
  const hooks = { onRejected, onError };
  const receiver = createReceiver({ secret, ...options, store, hooks }).on('*', handler);
  return { receiver, store, claim, handler, onRejected, onError };
}

export type SignedRequest = WebhookRequest & {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** A request of the provider: `order:paid` by default. */
export function signed(
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): SignedRequest {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const own = {
    'x-service-event': 'order:paid',
    'x-service-webhook': 'whl_1',
    'x-service-signature': sign(bytes, secret),
  };
  return { method: 'POST', headers: { ...own, ...headers }, body: bytes };
}

/** The record of a paid order. */
export const paidOrder: Readonly<Record<string, unknown>> = JSON.parse(
  Buffer.from(loadFixture('order:paid').body).toString(),
);

/** A paid order as JSON, with some fields changed. */
export function order(changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ ...paidOrder, ...changes });
}
