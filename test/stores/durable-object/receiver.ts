import { sign } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import { paidOrder } from '../../support/deliver.js';
import { SECRET, type Served } from '../workerd/served.js';

export async function send(
  worker: Served,
  payload: unknown,
  { path = '/webhooks', id = 'whl_1' }: { readonly path?: string; readonly id?: string } = {},
): Promise<number> {
  const body = JSON.stringify(payload);
  const answer = await fetch(`${worker.origin}${path}`, {
    method: 'POST',
    headers: {
      'x-service-event': 'order:paid',
      'x-service-webhook': id,
      'x-service-signature': sign(new TextEncoder().encode(body), SECRET),
    },
    body,
  });
  await answer.arrayBuffer();
  return answer.status;
}

export function describeReceiver(worker: () => Served) {
  describe('a receiver in a Worker', () => {
    test('sells once, even if its handler fails after the sale and the sender retries', async () => {
      const order = paidOrder({ id: `ord_${crypto.randomUUID()}` });
      expect(await send(worker(), order)).toBe(500);
      expect(await send(worker(), order)).toBe(200);
      expect(await send(worker(), order)).toBe(200);
      const sold = await worker().store({ store: 'd1' }).sold();
      expect(sold.filter(({ id }) => id === order.id)).toHaveLength(1);
    });

    test.each([
      ['receiver', 'KV', 'option_invalid', /Workers KV does not work: .* Use durableObjectStore/],
      ['objects', 'KV', 'client_invalid', /DELIVERIES\. Workers KV does not work: .*"class_name"/],
      ['d1', 'KV', 'client_invalid', /env\.DB\. Workers KV does not work: .*"d1_databases"/],
      ['objects', 'STUB', 'client_invalid', /This is a stub or a service binding.*"class_name"/],
      ['d1', 'SERVICE', 'client_invalid', /This is a stub or a service binding/],
      ['d1', 'NONE', 'client_invalid', /^d1Store needs a D1 database, such as env\.DB\./],
    ] as const)('%s rejects the binding %s', async (what, binding, code, message) => {
      const refusal = worker().store({ store: 'd1' }).refusal(what, binding);
      await expect(refusal).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
    });
  });
}
