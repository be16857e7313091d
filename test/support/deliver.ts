import type { WebhookRequest, WebhookResponse } from 'storefront-webhooks';
import { sign } from 'storefront-webhooks/testing';

export const SECRET = 'a secret for tests';

/** The payload of a paid order. */
export function paidOrder(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'ord_1',
    status: 100,
    email: 'buyer@example.com',
    updated_at: '2026-11-20T10:00:05.000000+00:00',
    ...changes,
  };
}

interface Sent {
  event?: string | undefined;
  id?: string | undefined;
  secret?: string;
  headers?: Record<string, string>;
  url?: string;
}

/** Passes a signed request to a receiver, as an adapter would. */
export function deliver(
  receiver: { receive(request: WebhookRequest): Promise<WebhookResponse> },
  payload: unknown,
  {
    event = 'order:paid',
    id = 'whl_1',
    secret = SECRET,
    headers = {},
    url = '/webhooks',
  }: Sent = {},
): Promise<WebhookResponse> {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const body = new TextEncoder().encode(text);
  return receiver.receive({
    method: 'POST',
    url,
    headers: {
      'x-service-event': event,
      'x-service-webhook': id,
      'x-service-signature': sign(body, secret),
      ...headers,
    },
    body,
  });
}
