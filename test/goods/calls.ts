import { memoryStore, type WebhookRequest, type WebhookResponse } from 'storefront-webhooks';
import { createGoods, type GoodsOptions, type GoodsOrder } from 'storefront-webhooks/goods';
import { sign } from 'storefront-webhooks/testing';
import { vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { SECRET } from '../support/deliver.js';

export { SECRET };

interface Mounted {
  receive(request: WebhookRequest): Promise<WebhookResponse<string | Uint8Array>>;
}

interface Sent {
  readonly secret?: string;
  readonly url?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly responseSent?: Promise<unknown>;
}

/** The order of most tests. */
export const ORDER = { id: 'ord_1', status: 100, product_id: 'prd_1' };

/** Calls for the goods of an order as the provider does: signed, without an event header. */
export async function call(
  goods: Mounted,
  order: unknown = ORDER,
  { secret = SECRET, url = '/goods', method = 'POST', headers = {}, responseSent }: Sent = {},
): Promise<Answer> {
  const body = new TextEncoder().encode(typeof order === 'string' ? order : JSON.stringify(order));
  const signed = { 'x-service-signature': sign(body, secret), ...headers };
  return toAnswer(await goods.receive({ method, url, headers: signed, body, responseSent }));
}

export interface Answer {
  readonly status: number;
  /** The body as text. */
  readonly body: string;
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly outcome: string;
}

function toAnswer({ status, headers, body, outcome }: WebhookResponse<string | Uint8Array>) {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return { status, headers, bytes, body: new TextDecoder().decode(bytes), outcome };
}

/** Calls without a signature. */
export const UNSIGNED = { headers: { 'x-service-signature': '' } };

/** Goods that record the orders, the store calls and the hooks. */
export function watched(options: GoodsOptions = {}) {
  const orders: GoodsOrder[] = [];
  const onRejected = vi.fn();
  const onError = vi.fn();
  const asked: (string | null)[] = [];
  const store = forward(memoryStore(), {}, (run, key) => {
    asked.push(key);
    return run();
  });
  const goods = createGoods(
    {
      ...(options.verify?.signed !== false && { secret: SECRET }),
      store,
      hooks: { onRejected, onError },
      ...options,
    },
    (order) => {
      orders.push(order);
      return `KEY of ${order.id}`;
    },
  );
  return { goods, orders, onRejected, onError, asked };
}

/** Makes a new key with each run, and counts the keys. */
export function keys(): { make: () => Promise<string>; readonly made: number } {
  let made = 0;
  return {
    async make() {
      made += 1;
      const key = `KEY-${made}`;
      await new Promise((resolve) => setTimeout(resolve, 1));
      return key;
    },
    get made() {
      return made;
    },
  };
}
