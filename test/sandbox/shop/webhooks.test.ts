import { expect, onTestFinished, test } from 'vitest';
import { TUNER } from '../seller.js';
import { startListener } from '../webhooks/listener.js';
import { openVisitor } from './visitor.js';

const PAGE = '/shop/alpha/webhooks';

/** A shop that sends its webhooks to a server of the test, and a customer who orders. */
async function openShop() {
  const visitor = await openVisitor({ clock: 'manual' });
  const listener = await startListener();
  onTestFinished(() => listener.close());
  const { client, account } = visitor;
  const product = await client.products.create({ ...TUNER, product_type: 'service' });
  await client.webhookEndpoints.create({ url: listener.url, events: ['order:created'] });
  return {
    ...visitor,
    listener,
    async order(count = 1) {
      for (let time = 0; time < count; time++) await account.buy({ product_id: product.id });
      await account.idle();
    },
    html: async (page = PAGE) => (await visitor.get(page)).html,
  };
}

/** Returns the event, the answer and the rows of each webhook on the page. */
function deliveriesIn(html: string) {
  const items = html.matchAll(
    /<li><p><strong>([^<]*)<\/strong> <span class="\w+">([^<]*)<\/span>([\s\S]*?)<\/li>/g,
  );
  return Array.from(items, ([, event, answer, rest = '']) => {
    const rows = rest.matchAll(/<dt>([^<]*)<\/dt><dd>(?:<[^>]*>)?([^<]*)/g);
    return {
      event,
      answer,
      ...Object.fromEntries(Array.from(rows, ([, name, value]) => [name, value])),
    };
  });
}

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\d, \d\d:\d\d:\d\d UTC$/);

test('each webhook is shown with its event, endpoint, attempts, answer and times', async () => {
  const { order, html, listener, account } = await openShop();
  listener.answer({ status: 503, body: 'Closed for <lunch>' });
  await order();
  const Record = expect.stringMatching(/^ord_/);
  const sent = { event: 'order:created', Record, Endpoint: listener.url, Created: TIME };
  expect(deliveriesIn(await html())).toEqual([
    {
      ...sent,
      answer: '503',
      Attempts: '1',
      'Next attempt': TIME,
      Answer: 'Closed for &lt;lunch&gt;',
    },
  ]);
  listener.answer({ status: 200, body: 'thanks' });
  await account.clock.advance(10_000);
  expect(deliveriesIn(await html())).toEqual([
    { ...sent, answer: '200', Attempts: '2', Answer: 'thanks' },
  ]);
});

test('a webhook without an answer shows the reason, or that it waits for the answer', async () => {
  const { order, html, listener, account } = await openShop();
  account.faults.add({ operation: 'webhooks.send', effect: 'lose' });
  await order();
  expect(deliveriesIn(await html())).toMatchObject([
    { answer: 'No answer', Answer: expect.stringContaining('lost the webhook') },
  ]);
  account.faults.add({ operation: 'webhooks.send', effect: 'late' });
  await order();
  expect(deliveriesIn(await html())[0]).toMatchObject({ answer: 'No answer yet', Attempts: '0' });
  expect(listener.came).toEqual([]);
});

test('a long answer is cut off', async () => {
  const { order, html, listener } = await openShop();
  listener.answer({ status: 200, body: 'x'.repeat(60_000) });
  await order();
  expect((await html()).match(/x{300,}/)?.[0]).toHaveLength(300);
});

test('a page shows twenty webhooks, newest first', async () => {
  const { order, html } = await openShop();
  await order(21);
  const first = await html();
  expect(deliveriesIn(first)).toHaveLength(20);
  expect(first).toMatch(/Page 1 of 2<\/span><a href="\/shop\/alpha\/webhooks\?page=2">Older/);
  expect(first).not.toContain('Newer');
  for (const page of ['2', '3', '999999999']) {
    const last = await html(`${PAGE}?page=${page}`);
    expect(deliveriesIn(last)).toHaveLength(1);
    expect(last).toMatch(/\?page=1">Newer<\/a><span class="muted">Page 2 of 2/);
    expect(last).not.toContain('Older');
  }
  for (const page of ['0', '-1', 'x', '1.5', '1e1', '9'.repeat(30)]) {
    expect(await html(`${PAGE}?page=${page}`)).toContain('Page 1 of 2');
  }
});

test('the start page and every page of a shop link to the webhooks', async () => {
  const { html } = await openShop();
  expect(await html('/')).toContain('href="/shop/demo/webhooks"');
  for (const page of ['', '/contact', '/webhooks', '/none/none/none']) {
    const leads = (await html(`/shop/alpha${page}`)).includes(`href="${PAGE}"`);
    expect([page, leads]).toEqual([page, page !== '/none/none/none']);
  }
  expect(await html()).toContain('No webhook has been sent.');
});
