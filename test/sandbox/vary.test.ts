import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { createReceiver, isPaid } from 'storefront-webhooks';
import { createClient } from 'storefront-webhooks/api';
import { toNodeHandler } from 'storefront-webhooks/node';
import { createSandbox, type SandboxAccount } from 'storefront-webhooks/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { chooseUnknowns, UNKNOWNS } from '../../src/sandbox/unknowns.js';
import { listen } from '../adapters/apps/inside/listen.js';
import { runs } from '../support/tier.js';
import { checking } from './document.js';
import { OLDER_TUNER, TUNER } from './seller.js';

const KEY = 'sk_test_vary';
const SECRET = 'whsec_vary';
const SEEDS = Array.from({ length: 100 }, (_, seed) => seed);

const seen = new Set<string>();
/** The first seeds, and each later seed that makes a choice which no earlier one has made. */
const TRIED = SEEDS.filter((seed, at) => {
  const picked = choicesOf(seed);
  const isNew = picked.some((choice) => !seen.has(choice));
  for (const choice of picked) seen.add(choice);
  return isNew || at < runs(SEEDS.length);
});

function choicesOf(seed: number): string[] {
  return Object.entries(chooseUnknowns({}, seed)).map(([place, choice]) => `${place}: ${choice}`);
}

/** A seller's server that records its deliveries by order id, and fails the first webhook of each order. */
async function openShop() {
  const delivered: string[] = [];
  const failed = new Set<string>();
  const receiver = createReceiver({ secret: SECRET }).on(
    ['order:paid', 'order:updated'],
    ({ payload: { id } }) => {
      if (!failed.has(id)) {
        failed.add(id);
        throw new Error('The mail server is down.');
      }
      delivered.push(id);
    },
    { name: 'deliver', when: isPaid, oncePer: (order) => order.id },
  );
  const { port, close } = await listen(createServer(toNodeHandler(receiver)));
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}/webhooks`, delivered };
}

/** An integration that relies only on the specification and on the variant. */
async function integrate(seed: number, url: string) {
  const { variant } = chooseUnknowns({}, seed);
  const sender = new EventEmitter();
  const onAttempt = () => sender.emit('attempt');
  const sandbox = createSandbox({ seed, clock: 'fast', webhookSecret: SECRET, onAttempt });
  try {
    const { client: fetch } = await checking((request) => sandbox.fetch(request));
    const auth =
      variant === 'newer' ? { accessToken: KEY } : { email: 'me@example.com', apiKey: KEY };
    const client = createClient({
      baseUrl: 'http://localhost',
      auth,
      variant,
      retries: 0,
      fetch: (url, init) => fetch(new Request(url, init)),
    });
    const account = sandbox.account(KEY);
    const product = await client.products.create(variant === 'newer' ? TUNER : OLDER_TUNER);
    await client.webhookEndpoints.create({ url, events: ['order:updated', 'order:paid'] });
    const { id } = await buy(account, product.id, seed % 2 === 0 ? 'paypal' : 'bitcoin');
    expect(await client.orders.get(id)).toMatchObject({ status: 100, delivered: 'AAA-1' });
    const failed = async () =>
      (await client.webhookLogs.list()).items.filter(({ response_code }) => response_code !== 200);
    // Send one request per attempt: the clock does not advance without timers, so a rate limit would not end.
    for (let next = once(sender, 'attempt'); (await failed()).length > 0; ) {
      await next;
      next = once(sender, 'attempt');
    }
    expect((await client.products.get(product.id)).stock).toBe(2);
    await client.products.delete(product.id);
    return id;
  } finally {
    await sandbox.close();
  }
}

/** Buys a product, and pays and confirms until the order is completed. */
async function buy(account: SandboxAccount, product_id: string, gateway: string) {
  const order = await account.buy({ product_id, gateway });
  let { status } = await account.pay(order.id);
  while (status !== 100) ({ status } = await account.confirm(order.id));
  return order;
}

test('an integration that relies only on the specification works under any seed', async () => {
  const { url, delivered } = await openShop();
  const sold: string[] = [];
  for (const seed of TRIED) {
    sold.push(await integrate(seed, url).catch((error) => expect.fail(`seed ${seed}: ${error}`)));
  }
  expect(delivered).toEqual(sold);
});

test('the tested seeds make every choice of every place', () => {
  const picked = new Set(TRIED.flatMap(choicesOf));
  const legal = Object.entries(UNKNOWNS).flatMap(([place, { choices }]) =>
    Object.keys(choices).map((choice) => `${place}: ${choice}`),
  );
  expect([...picked].sort()).toEqual(legal.sort());
});
