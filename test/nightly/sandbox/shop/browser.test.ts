import type { Browser, Page } from 'playwright-core';
import { createClient } from 'storefront-webhooks/api';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { PAYMENT, TUNER } from '../../../sandbox/seller.js';
import { startSellerServer } from '../../../sandbox/shop/seller-server.js';
import { startListener } from '../../../sandbox/webhooks/listener.js';
import { startChromium, withChromium } from '../../../support/chromium.js';

withChromium('a customer in Chromium', () => {
  const sandbox = createSandbox();
  let browser: Browser;
  let url = '';
  beforeAll(async () => {
    browser = await startChromium();
    ({ url } = await sandbox.listen());
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox.close();
  });

  let count = 0;
  /** A new shop with one product, and a customer on its first page. */
  async function visit(product: object = {}) {
    count += 1;
    const name = `browser-${count}`;
    const account = sandbox.account(`sk_test_${name}`);
    const client = createClient({ baseUrl: url, auth: { accessToken: account.key } });
    await client.products.create({ ...TUNER, ...product });
    const context = await browser.newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(`${url}/shop/${name}`);
    return { page, account, client, ...drive(page) };
  }

  test('orders a product of serials, pays, and sees the key', async () => {
    const { open, choose, press, sees, client } = await visit();
    await open('Pocket tuner');
    await choose('Payment gateway', 'PayPal');
    await press('Order');
    await sees('Not paid (0)');
    await press('Pay');
    await sees('Successful and completed (100)');
    await sees('AAA-1');
    const { items } = await client.orders.list();
    expect(items).toMatchObject([
      { status: 100, delivered: 'AAA-1', user_agent: expect.stringContaining('Chrome') },
    ]);
  });

  test('pays a part, then the rest', async () => {
    const { open, choose, press, fill, sees } = await visit();
    await open('Pocket tuner');
    await choose('Payment gateway', 'PayPal');
    await press('Order');
    await fill('Amount in EUR', '4');
    await press('Pay a part');
    await sees('Partially paid (53)');
    await sees('€5.90');
    await press('Pay');
    await sees('Successful and completed (100)');
  });

  test('pays with a wallet, and the payment is pending', async () => {
    const { open, choose, press, sees } = await visit();
    await open('Pocket tuner');
    await choose('Payment gateway', 'PayPal');
    await press('Order');
    await press('Leave pending');
    await sees('Pending (55)');
    await press('Confirm once');
    await sees('AAA-1');
  });

  test('pays too little in a cryptocurrency, then the rest, and gets the confirmations one by one', async () => {
    const { page, client, press, fill, sees } = await visit();
    const payment = { ...PAYMENT, confirmations: 3, white_label: true } as const;
    const { id } = await client.payments.create(payment);
    await page.goto(`${page.url()}/checkout/${id}`);
    await fill('Amount in EUR', '2.50');
    await press('Send too little');
    await sees('Partially paid (53)');
    await press('Pay');
    for (const confirmations of ['0 of 3', '1 of 3', '2 of 3']) {
      await sees(confirmations);
      await press('Confirm once');
    }
    await sees('Successful and completed (100)');
  });

  test.each([
    ['Refund', 'Refunded (56)'],
    ['Charge back', 'Chargeback/Reversed (51)'],
  ])('presses %s after the payment', async (button, status) => {
    const { open, choose, press, sees } = await visit();
    await open('Pocket tuner');
    await choose('Payment gateway', 'PayPal');
    await press('Order');
    await press('Pay');
    await press(button);
    await sees(status);
  });

  test('lets an order expire', async () => {
    const { open, press, sees } = await visit();
    await open('Pocket tuner');
    await press('Order');
    await press('Let it expire');
    await sees('can no longer be paid');
  });

  test('pays a hosted payment and returns to return_url, and the seller has received order:paid', async () => {
    const { page, client, account, press } = await visit();
    const seller = await startSellerServer(account.settings.webhook_secret);
    onTestFinished(() => seller.close());
    await client.webhookEndpoints.create({ url: seller.webhooks, events: ['order:paid'] });
    const { url: checkout } = await client.payments.create({
      ...PAYMENT,
      gateway: 'paypal',
      return_url: seller.thanks,
    });
    await page.goto(checkout);
    await press('Pay');
    await page.waitForURL(seller.thanks);
    expect(await page.getByRole('heading', { name: 'Thank you' }).isVisible()).toBe(true);
    await vi.waitFor(() => expect(seller.paid).toEqual([checkout.split('/').at(-1)]), 20_000);
  });

  test('cannot order a product that is out of stock', async () => {
    const { page, open, sees } = await visit({ info: '' });
    await open('Pocket tuner');
    await sees('This product is out of stock.');
    expect(await page.getByRole('button').count()).toBe(0);
  });

  test('is rejected if the seller has blocked them, and keeps their input', async () => {
    const { page, client, open, fill, press } = await visit();
    await client.blacklist.create({ blacklist_type: 1, blocked_data: 'eve@example.com' });
    await open('Pocket tuner');
    await fill('Email', 'eve@example.com');
    await press('Order');
    expect(await page.getByRole('alert').textContent()).toContain('is on the blacklist');
    expect(await page.getByLabel('Email').inputValue()).toBe('eve@example.com');
    expect(await page.title()).toMatch(/^Error: /);
  });

  test('returns from the checkout to a rejected form with their input', async () => {
    const { page, open, fill, choose, press, sees } = await visit();
    await open('Pocket tuner');
    await choose('Payment gateway', 'PayPal');
    await fill('Quantity', '2');
    await page.getByLabel('Email').evaluate((field) => field.setAttribute('type', 'text'));
    await fill('Email', 'ada');
    await press('Order');
    const email = page.getByLabel('Email');
    await sees('Email has to be an address');
    expect(await email.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    expect(await email.getAttribute('aria-invalid')).toBe('true');
    await fill('Email', 'ada@example.com');
    await press('Order');
    await sees('Not paid (0)');
    await page.goBack();
    await sees('Email has to be an address');
    expect(await page.getByLabel('Quantity').inputValue()).toBe('2');
    await page.goBack();
    expect(new URL(page.url()).search).toBe('');
    expect(await page.getByRole('heading', { name: 'Pocket tuner' }).isVisible()).toBe(true);
  });

  test('sees goods as soon as they are ready, and Back skips the waiting page', async () => {
    const listener = await startListener();
    onTestFinished(() => listener.close());
    let finish: (body: string) => void = () => {};
    const made = new Promise<string>((resolve) => {
      finish = resolve;
    });
    listener.answer(async () => ({ status: 200, body: await made }));
    const fields = { product_type: 'dynamic', dynamic_url: listener.url };
    const { page, open, choose, press, sees } = await visit(fields);
    await open('Pocket tuner');
    await choose('Payment gateway', 'PayPal');
    await press('Order');
    await press('Pay');
    await sees('This page shows it as soon as it is ready.');
    await page.waitForURL(/waited=2$/);
    finish('KEY-7');
    await sees('KEY-7');
    await page.goBack();
    expect(page.url()).not.toContain('waited');
  });

  test("can open the page of the shop's webhooks, as a seller does", async () => {
    const { page, client, account, open, sees } = await visit({ product_type: 'service' });
    const listener = await startListener();
    onTestFinished(() => listener.close());
    await client.webhookEndpoints.create({ url: listener.url, events: ['order:created'] });
    const [product] = (await client.products.list()).items;
    for (let count = 0; count < 21; count++) await account.buy({ product_id: `${product?.id}` });
    await account.idle();
    await open('The webhooks of this shop');
    await sees(listener.url);
    expect(await page.getByRole('list', { name: 'Webhooks' }).getByRole('listitem').count()).toBe(
      20,
    );
    await open('Older');
    await sees('Page 2 of 2');
  });

  test('orders through a VPN, as an option of the sandbox', async () => {
    const { page, open, press } = await visit({ vpn_block: true });
    await open('Pocket tuner');
    await page.getByText('Sandbox options').click();
    await page.getByRole('checkbox', { name: 'Uses a VPN or a proxy' }).check();
    await press('Order');
    const box = page.getByRole('checkbox', { name: 'Uses a VPN or a proxy' });
    expect(await box.getAttribute('aria-invalid')).toBe('true');
    expect(await box.isVisible()).toBe(true);
  });

  test("fills in the product's own fields, of which the browser requires some", async () => {
    const custom = [
      { type: 'text', name: 'Nick', required: true },
      { type: 'country_dropdown', name: 'Licence country', required: false },
    ];
    const { page, client, open, fill, choose, press, sees } = await visit({ custom });
    await open('Pocket tuner');
    await press('Order');
    // The browser has not sent the form.
    expect(await page.getByRole('textbox', { name: 'Nick' }).getAttribute('required')).toBe('');
    expect((await client.orders.list()).items).toEqual([]);
    await fill('Nick', 'ada');
    await choose('Licence country (optional)', 'Norway');
    await press('Order');
    await sees('Not paid (0)');
    const { items } = await client.orders.list();
    expect(items).toMatchObject([{ custom: { Nick: 'ada', 'Licence country': 'NO' } }]);
  });

  test('gives feedback', async () => {
    const { page, open, choose, press, fill, sees } = await visit();
    await open('Pocket tuner');
    await choose('Payment gateway', 'PayPal');
    await press('Order');
    await press('Pay');
    await page.getByRole('radio', { name: '4' }).check();
    await fill('Message (optional)', 'In tune.');
    await press('Give feedback');
    await sees('You gave 4 of 5.');
  });

  test('asks the shop, reads its reply, and writes again', async () => {
    const { page, account, open, fill, press, sees } = await visit();
    await open('Contact');
    await fill('Subject', 'Strings');
    await fill('Message', 'Does it tune 12?');
    await press('Send');
    await sees('Does it tune 12?');
    await account.write(page.url().split('/').at(-1) ?? '', { from: 'seller', text: 'It does.' });
    await page.reload();
    await sees('It does.');
    await fill('Message', 'Thanks!');
    await press('Send');
    await sees('Thanks!');
  });
});

/** The actions of a customer, by the visible texts. */
function drive(page: Page) {
  return {
    open: (name: string) => page.getByRole('link', { name }).click(),
    press: (name: string) => page.getByRole('button', { name, exact: true }).click(),
    fill: (name: string, text: string) => page.getByLabel(name, { exact: true }).fill(text),
    choose: (name: string, option: string) =>
      page.getByRole('combobox', { name }).selectOption({ label: option }),
    sees: (text: string) => page.getByText(text).first().waitFor(),
  };
}
