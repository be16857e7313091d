import { describe, expect, onTestFinished, test } from 'vitest';
import { shopRoutes } from '../../../src/sandbox/shop/routes.js';
import { createPayment } from '../../../src/sandbox/trade/payments.js';
import { PAYMENT, TUNER } from '../seller.js';
import { openStall } from '../trade/stall.js';
import { startListener } from '../webhooks/listener.js';
import { faultsIn, marketsOf, openVisitor } from './visitor.js';

async function openCheckout({ gateway = 'paypal', ...fields }: Record<string, unknown> = {}) {
  const visitor = await openVisitor();
  const product = await visitor.client.products.create({ ...TUNER, ...fields });
  const order = await visitor.account.buy({ product_id: product.id, gateway: String(gateway) });
  const page = `/shop/alpha/checkout/${order.id}`;
  return {
    ...visitor,
    product,
    order,
    page,
    press: (action: string, fields = {}) => visitor.post(page, { action, ...fields }),
    refused: (action: string, fields = {}) => visitor.submit(page, { action, ...fields }),
    html: async () => (await visitor.get(page)).html,
    buttons: async () => namesOf((await visitor.get(page)).html),
  };
}

const alertIn = (html: string) => /role="alert"><p>([^<]*)/.exec(html)?.[1];
const namesOf = (html: string) =>
  Array.from(html.matchAll(/<button[^>]*>([^<]*)</g), ([, name]) => name);
const REVERSING = ['Refund', 'Charge back'];
const FEEDBACK = 'Give feedback';

describe('the checkout offers only the steps that are possible now', () => {
  test('for an order that is unpaid, partially paid, completed and refunded', async () => {
    const { buttons, press, html, page } = await openCheckout();
    expect(await buttons()).toEqual(['Pay', 'Leave pending', 'Pay a part', 'Let it expire']);
    expect(await press('pay-part', { value: '3.90' })).toMatchObject({
      status: 303,
      location: page,
    });
    expect(await html()).toMatch(/Partially paid[\s\S]*\(53\)[\s\S]*€3\.90[\s\S]*€6\.00/);
    expect(await buttons()).toEqual([
      'Pay',
      'Leave pending',
      'Pay a part',
      ...REVERSING,
      'Let it expire',
    ]);
    await press('pay');
    expect(await html()).toMatch(/Successful and completed[\s\S]*\(100\)[\s\S]*AAA-1/);
    expect(await buttons()).toEqual([FEEDBACK, ...REVERSING]);
    await press('refund');
    expect(await html()).toMatch(/Refunded[\s\S]*\(56\)[\s\S]*<dt>Refunded<\/dt><dd>€9\.90/);
    expect(await html()).not.toMatch(/AAA-1|<dt>Paid/);
    expect(await buttons()).toEqual([]);
  });

  test('for a pending wallet payment', async () => {
    const { buttons, press, html } = await openCheckout();
    await press('pend');
    expect(await html()).toMatch(/Pending[\s\S]*\(55\)/);
    expect(await buttons()).toEqual(['Confirm once', ...REVERSING]);
    await press('confirm');
    await press('charge-back');
    expect(await html()).toMatch(/Chargeback\/Reversed[\s\S]*\(51\)[\s\S]*<dt>Charged back<\/dt>/);
    expect(await html()).not.toContain('AAA-1');
  });

  test('for a cryptocurrency payment that is too small', async () => {
    const { buttons, press, html, order } = await openCheckout({ gateway: 'bitcoin' });
    expect(await html()).toContain(order.crypto_address);
    expect(await html()).toContain('0.00018150 (Bitcoin)');
    expect(await buttons()).toEqual(['Pay', 'Send too little', 'Let it expire']);
    await press('pay-part', { value: '1' });
    await press('pay');
    expect(await html()).toMatch(/Awaiting cryptocurrency confirmations[\s\S]*0 of 1/);
    expect(await buttons()).toEqual(['Confirm once', ...REVERSING]);
  });

  test('for an expired order', async () => {
    const { buttons, press, html } = await openCheckout();
    await press('expire');
    expect(await html()).toContain('can no longer be paid');
    expect(await buttons()).toEqual([]);
  });
});

test.each([
  ['refund', {}, 'cannot be refunded'],
  ['confirm', {}, 'cannot be confirmed'],
  ['charge-back', {}, 'cannot be charged back'],
  ['rate', { rating: '5' }, 'cannot be rated'],
  ['pay-part', { value: 'some' }, 'has to be a number'],
  ['pay-part', { value: '-1' }, 'has to be above 0'],
  ['pay-part', { value: '1e0' }, 'has to be a number'],
  ['pay-part', { value: '9.91' }, 'has to be at most 9.90 EUR, the amount owed'],
  ['pay-part', { value: '1.005' }, 'has to have at most 2 decimals'],
  ['toString', {}, 'There is no such button.'],
])('the page rejects %s %j for an unpaid order', async (action, fields, sentence) => {
  const { refused, client, order } = await openCheckout();
  const { html } = await refused(action, fields);
  expect(html).toContain('<title>Error: ');
  const said = action === 'pay-part' ? faultsIn(html).value : alertIn(html);
  expect(said).toContain(sentence);
  expect(await client.orders.get(order.id)).toMatchObject({ status: 0 });
});

test('the goods are a link if they are a URL', async () => {
  const { press, html } = await openCheckout({ info: 'https://files.example/tuner.zip' });
  await press('pay');
  expect(await html()).toContain('<a href="https://files.example/tuner.zip">');
});

test('goods in preparation appear as soon as they are ready, without a script', async () => {
  const listener = await startListener();
  onTestFinished(() => listener.close());
  listener.answer((_, number) => (number === 1 ? 503 : { status: 200, body: 'KEY-1' }));
  const fields = { product_type: 'dynamic', dynamic_url: listener.url };
  const { press, get, page, account } = await openCheckout(fields);
  await press('pay');
  await account.idle();
  let { html, headers } = await get(page);
  expect(html).toContain('is being prepared');
  // A form would lose its input when the page refreshes.
  expect(html).not.toContain(FEEDBACK);
  expect(headers.get('refresh')).toBe(`1; url=${page}?waited=1`);
  let count = 0;
  for (let next = headers.get('refresh'); next; next = headers.get('refresh')) {
    ({ html, headers } = await get(next.replace('1; url=', '')));
    count += 1;
  }
  // The page stops refreshing after a while.
  expect([count, html]).toEqual([30, expect.stringContaining(`<a href="${page}">Check again</a>`)]);
  expect(html).toContain(FEEDBACK);
  await account.clock.advance(10_000);
  ({ html, headers } = await get(page));
  expect([headers.get('refresh'), html]).toEqual([null, expect.stringContaining('KEY-1')]);
});

test('a page without pending goods does not refresh', async () => {
  const { press, get, page } = await openCheckout();
  expect((await get(page)).headers.get('refresh')).toBeNull();
  await press('pay');
  expect((await get(page)).headers.get('refresh')).toBeNull();
});

test('[spec: Product] redirect_url: the customer is redirected there after a successful checkout', async () => {
  const redirect_url = 'https://me.example/thanks';
  const { press, get, html, page } = await openCheckout({ redirect_url });
  expect((await get(page)).headers.get('content-security-policy')).toContain(
    "form-action 'self' https://me.example;",
  );
  expect(await html()).not.toContain('Back to the shop');
  expect(await press('pay-part', { value: '3.90' })).toMatchObject({ location: page });
  expect(await press('pay')).toMatchObject({ status: 303, location: redirect_url });
  // The page still has the goods.
  expect(await html()).toMatch(/AAA-1[\s\S]*<a href="https:\/\/me\.example\/thanks">Back to the/);
  expect(await press('rate', { rating: '4' })).toMatchObject({ location: page });
});

test('feedback can be given once, and then changed', async () => {
  const { press, refused, html } = await openCheckout();
  await press('pay');
  await press('rate', { rating: '4', message: 'Good tuner' });
  expect(await html()).toMatch(/You gave 4 of 5[\s\S]*Good tuner[\s\S]*Change feedback/);
  await press('rate', { rating: '5', message: 'Better' });
  expect(await html()).toMatch(/You gave 5 of 5[\s\S]*Better/);
  const page = (await refused('rate', { rating: '6', message: 'Best' })).html;
  expect(page).toMatch(/aria-describedby="rating-fault" autofocus[\s\S]*from 1 to 5[\s\S]*Best/);
});

describe('[spec: Payments] the hosted checkout', () => {
  async function openPayment(fields: object = {}) {
    const visitor = await openVisitor();
    const return_url = 'https://me.example/done?order=7';
    const { url } = await visitor.client.payments.create({ ...PAYMENT, return_url, ...fields });
    const { pathname } = new URL(url);
    return { ...visitor, press: (action: string) => visitor.post(pathname, { action }), pathname };
  }

  test('opens at the url of a payment, and shows its title', async () => {
    const { get, pathname } = await openPayment();
    expect((await get(pathname)).html).toMatch(/<h1>Lesson<\/h1>[\s\S]*€12\.50/);
  });

  test('after the payment the customer is redirected to return_url', async () => {
    const { get, press, pathname } = await openPayment();
    expect((await get(pathname)).headers.get('content-security-policy')).toContain(
      "form-action 'self' https://me.example;",
    );
    expect(await press('pay')).toMatchObject({ status: 303, location: pathname });
    expect(await press('confirm')).toMatchObject({
      status: 303,
      location: 'https://me.example/done?order=7',
    });
    expect((await get(pathname)).html).toContain(
      '<a href="https://me.example/done?order=7">Back to the shop</a>',
    );
  });

  // A file of an older sandbox may contain such an address.
  test.each(['javascript:alert(1)', 'data:text/html,x', 'nowhere', 'https://a;script-src'])(
    'does not redirect to %s',
    async (return_url) => {
      const { market } = openStall();
      const terms = { ...PAYMENT, gateway: 'paypal', confirmations: 1, webhook_url: null };
      const { id } = createPayment(market, { ...terms, white_label: false, return_url });
      const shop = shopRoutes(marketsOf(market));
      const page = `/shop/stall/checkout/${id}`;
      const body = new URLSearchParams({ action: 'pay' });
      const paid = await shop.request(page, { method: 'POST', body });
      expect(paid.headers.get('location')).toBe(page);
      const response = await shop.request(page);
      const html = await response.text();
      expect(html).toContain('Successful and completed');
      expect(html).not.toContain('Back to the shop');
      expect(response.headers.get('content-security-policy')).toContain("form-action 'self';");
    },
  );

  test('a payment that the seller deleted is closed', async () => {
    const { client, get, pathname } = await openPayment();
    await client.payments.delete(pathname.split('/').at(-1) ?? '');
    expect((await get(pathname)).html).toContain('can no longer be paid');
  });
});
