import { loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Started } from '../support/start.js';

export const WEBHOOK_SECRET = 'a secret for tests';

interface Differences {
  /** The address of its webhooks. */
  readonly paths?: readonly string[];
  /** Requests another route of the application, and checks its response. */
  readonly elsewhere?: (origin: string) => Promise<void>;
  /** Whether the last test ends the process. */
  readonly isEnded?: boolean;
}

/** The tests that each example has to pass. */
export function exampleShop(
  name: string,
  open: () => Promise<Started>,
  { paths = ['/webhooks'], elsewhere = createsProducts, isEnded = false }: Differences = {},
): void {
  describe(name, () => {
    let shop: Started;
    beforeAll(async () => {
      shop = await open();
    });
    afterAll(() => shop?.stop());

    for (const path of paths) {
      const send = async (fixture: string, id: string, secret = WEBHOOK_SECRET) => {
        const { status, outcome } = await replay(shop.origin + path, fixture, { id, secret });
        return `${status} ${outcome}`;
      };

      test(`${path} delivers a paid order once, and rejects forged requests`, async () => {
        const before = shop.output().length;
        expect(await send('order:paid', 'first')).toBe('200 handled');
        expect(await send('order:paid', 'first')).toBe('200 duplicate');
        expect(await send('order:paid', 'the same order again')).toBe('200 duplicate');
        expect(await send('order:paid/crypto', 'forged', 'another secret')).toBe('401 rejected');
        expect(await send('hostile/tampered-body', 'tampered')).toBe('401 rejected');
        // Send this request last: when it is answered, the shop has written all earlier lines.
        expect(await send('product:out_of_stock', 'last')).toBe('200 handled');
        const written = () => shop.output().slice(before);
        await vi.waitFor(() => expect(written()).toMatch(/^Out of stock: Pocket Tuner/m));
        expect(written().match(/^Delivered order .*$/gm)).toEqual([
          `Delivered order ${orderId('order:paid')}`,
        ]);
      });
    }

    test('its other routes still work', () => elsewhere(shop.origin));

    if (!isEnded) return;
    test('it ends on SIGTERM, even with an open connection', async () => {
      // fetch keeps it open.
      await (await fetch(`${shop.origin}${paths[0]}`)).text();
      shop.terminate();
      expect(await shop.ended).toBe(0);
    });
  });
}

async function createsProducts(origin: string): Promise<void> {
  const product = { title: 'Pocket Tuner' };
  const response = await fetch(`${origin}/products`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(product),
  });
  expect([response.status, await response.json()]).toEqual([201, product]);
}

function orderId(fixture: string): string {
  return JSON.parse(Buffer.from(loadFixture(fixture).body).toString()).id;
}
