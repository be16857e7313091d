import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { createClient } from 'storefront-webhooks/api';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { violationsOf, withAxe } from '../../../support/axe.js';
import { startChromium } from '../../../support/chromium.js';

withAxe('every page in Chromium', () => {
  const sandbox = createSandbox();
  // The folder for pictures to look at. Without it, no picture is taken: no test compares them.
  const folder = process.env.SCREENSHOTS;
  if (folder) mkdirSync(folder, { recursive: true });
  let browser: Browser;
  let pages: readonly (readonly [name: string, path: string])[] = [];
  let origin = '';
  beforeAll(async () => {
    browser = await startChromium();
    ({ url: origin } = await sandbox.listen());
    pages = await seedPages();
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox.close();
  });

  /** A page of each kind, and of each state of an order. */
  async function seedPages() {
    const account = sandbox.account('sk_test_demo');
    sandbox.account('sk_test_empty');
    await account.seed();
    const client = createClient({ baseUrl: origin, auth: { accessToken: account.key } });
    const { items: products } = await client.products.list();
    const { items: orders } = await client.orders.list();
    const query = await account.ask({ email: 'a@b.example', title: 'Strings', message: 'Twelve?' });
    // An answered one, a failed one, and a waiting one.
    const events = ['order:created', 'order:paid'] as const;
    await client.webhookEndpoints.create({ url: `${origin}/nope`, events });
    const sold = await account.buy({ product_id: products[0]?.id ?? '' });
    await account.pay(sold.id);
    await account.idle();
    await account.write(query.id, { from: 'seller', text: 'It does.' });
    const product = (title: string) =>
      `/shop/demo/product/${products.find((one) => one.title.startsWith(title))?.id}`;
    const statuses = [...new Set(orders.map(({ status }) => status))];
    return [
      ['start', '/'],
      ['shop', '/shop/demo'],
      ['empty', '/shop/empty'],
      ['unopened', '/shop/nobody'],
      ['product', product('Halden Reverb')],
      ['fields', product('Feedback on')],
      ['out-of-stock', product('Moss Synth: ')],
      ['contact', '/shop/demo/contact'],
      ['query', `/shop/demo/contact/${query.id}`],
      ['refused', await refusedForm(product('Feedback on'))],
      ['absent', '/nope'],
      ['webhooks', '/shop/demo/webhooks'],
      ['no-webhooks', '/shop/empty/webhooks'],
      ...statuses.map((status): [string, string] => [
        `order-${status}`,
        `/shop/demo/checkout/${orders.find((order) => order.status === status)?.id}`,
      ]),
    ] as const;
  }

  /** The page of a form that was rejected for each of its fields. */
  async function refusedForm(path: string): Promise<string> {
    const body = new URLSearchParams({ email: 'ada', risk_level: '101' });
    const { headers } = await fetch(origin + path, { method: 'POST', body, redirect: 'manual' });
    return headers.get('location') ?? '';
  }

  async function open(options: BrowserContextOptions) {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    return context.newPage();
  }

  describe.each([360, 1280])('%i px wide', (width) => {
    test.each(['light', 'dark'] as const)(
      'is accessible and fits the screen, in a %s scheme',
      async (colorScheme) => {
        const page = await open({ viewport: { width, height: 800 }, colorScheme });
        const found: unknown[] = [];
        for (const [name, path] of pages) {
          await page.goto(origin + path);
          if (folder) {
            const picture = `${name}-${width}-${colorScheme}.png`;
            await page.screenshot({ path: join(folder, picture), fullPage: true });
          }
          found.push(...(await violationsOf(page)).map((violation) => [name, ...violation]));
          const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
          if (wide > width) found.push([name, `is ${wide} px wide`]);
        }
        expect(found).toEqual([]);
        expect(pages.length).toBeGreaterThanOrEqual(21);
      },
      // Twenty-one pages, each checked completely.
      180_000,
    );
  });

  test('applies its own style, and logs no errors', async () => {
    const page = await open({});
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    for (const [, path] of pages) await page.goto(origin + path);
    // The browser reports the missing page, as expected.
    expect(said.filter((text) => !/status of 404/.test(text))).toEqual([]);
    expect(await page.evaluate('getComputedStyle(document.body).margin')).toBe('0px');
  });
});
