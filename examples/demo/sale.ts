import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { createReceiver, type Hooks, type IdempotencyStore } from 'storefront-webhooks';
import { createClient } from 'storefront-webhooks/api';
import { toExpress } from 'storefront-webhooks/express';
import { createGoods } from 'storefront-webhooks/goods';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { replay } from 'storefront-webhooks/testing';
import { cut, paint, width } from './terminal.js';

const SECRET = 'the webhook secret of this demo';

/** A step of the story, and the deliveries that follow, with their expected answers. */
interface Step {
  happens(sale: Sale): Promise<unknown>;
  readonly deliveries: readonly (readonly [event: string, answer: string, text: string])[];
}

const STEPS: readonly Step[] = [
  {
    happens: ({ buys }) => buys('ada@example.com'),
    deliveries: [
      ['product:dynamic', '200 goods', 'Ada has paid: her key is made'],
      ['order:paid', '200 handled', 'and she gets her mail'],
    ],
  },
  {
    happens({ buys, shop }) {
      shop.mailServerIsDown = true;
      return buys('ben@example.com');
    },
    deliveries: [['order:paid', '500 failed', 'Ben has paid; the mail server is down']],
  },
  {
    happens({ waits, shop }) {
      shop.mailServerIsDown = false;
      return waits(10);
    },
    deliveries: [['order:paid', '200 handled', '10 s later, the delivery is retried']],
  },
  {
    happens: ({ buys, losesAnswer }) => {
      losesAnswer();
      return buys('cem@example.com');
    },
    deliveries: [['order:paid', '200 handled', 'Cem has paid, but our answer gets lost']],
  },
  {
    happens: ({ waits }) => waits(10),
    deliveries: [['order:paid', '200 duplicate', 'so it is retried: nothing is done twice']],
  },
  {
    happens: ({ forges }) => forges(),
    deliveries: [['order:paid', '401 rejected', 'a paid order is forged']],
  },
];

/** The actions of the steps. */
interface Sale {
  readonly shop: Shop;
  /** A customer orders a key and pays it. */
  buys(email: string): Promise<unknown>;
  /** Lets a number of seconds pass. */
  waits(seconds: number): Promise<void>;
  /** Loses the answer to the storefront's next webhook. */
  losesAnswer(): void;
  /** Sends a paid order that is signed with a wrong secret. */
  forges(): Promise<unknown>;
}

/** Lets customers buy in a storefront on this machine, and prints the answers to its webhooks. */
export async function sell(store: IdempotencyStore): Promise<boolean> {
  const shop = await openShop(store);
  const sandbox = createSandbox({ clock: 'manual', webhookSecret: SECRET });
  const storefront = await sandbox.listen();
  const account = sandbox.account('sk_test_demo');
  const client = createClient({ baseUrl: storefront.url, auth: { accessToken: account.key } });
  await client.webhookEndpoints.create({ url: `${shop.url}/webhooks`, events: ['order:paid'] });
  const product = await client.products.create({
    title: 'Licence key',
    description: 'Made for each order, by the shop.',
    product_type: 'dynamic',
    dynamic_url: `${shop.url}/goods`,
    price: '25.00',
    currency: 'EUR',
    gateways: ['paypal'],
  });
  console.log(`The storefront is at ${storefront.url}.`);
  console.log(`An Express shop with a SQLite store is at ${shop.url}.`);
  console.log('Customers buy. ✓ marks an expected answer.\n');
  console.log('  EVENT            ANSWER            MS  WHAT HAPPENS');

  const sale: Sale = {
    shop,
    async buys(email) {
      const order = await account.buy({ product_id: product.id, email });
      await account.pay(order.id);
      await account.idle();
    },
    waits: (seconds) => account.clock.advance(seconds * 1000),
    losesAnswer: () => account.faults.add({ operation: 'webhooks.send', effect: 'lose-answer' }),
    forges: () => replay(`${shop.url}/webhooks`, 'order:paid', { secret: 'a guess' }),
  };
  let isGood = true;
  for (const { happens, deliveries } of STEPS) {
    await happens(sale);
    for (const [event, answer, text] of deliveries) {
      const arrived = shop.take(event);
      const isExpected = arrived?.answer === answer;
      isGood &&= isExpected;
      console.log(row(isExpected, event, arrived, text));
    }
  }

  const { items: orders } = await client.orders.list();
  const paid = orders.filter(({ status }) => status === 100);
  const keys = new Set(paid.map(({ delivered }) => delivered));
  console.log(
    `\n${paid.length} orders paid, ${keys.size} keys made, ${shop.mails.length} mails sent.`,
  );
  await sandbox.close();
  await shop.close();
  return isGood && paid.length === keys.size && paid.length === shop.mails.length;
}

/** A request that the shop has answered. */
interface Arrived {
  readonly event: string;
  /** The status and the outcome. */
  readonly answer: string;
  readonly ms: number;
}

interface Shop {
  readonly url: string;
  mailServerIsDown: boolean;
  /** The recipients of the mails. */
  readonly mails: string[];
  /** Removes and returns the earliest remaining request about an event. */
  take(event: string): Arrived | undefined;
  close(): Promise<void>;
}

/** Opens the seller's own server, which makes the keys, and mails the customers who have paid. */
async function openShop(store: IdempotencyStore): Promise<Shop> {
  const outcomes = new Map<string, string>();
  const hooks: Hooks = {
    onOutcome: ({ id, outcome }) => outcomes.set(id, outcome),
    // The failing handler is a part of the story.
    onError() {},
    onRejected() {},
  };
  const receiver = createReceiver({ secret: SECRET, store, hooks }).onPaid(({ payload: order }) => {
    if (shop.mailServerIsDown) throw new Error('the mail server is down');
    shop.mails.push(order.email ?? '');
  });
  const goods = createGoods(
    { secret: SECRET, store, hooks },
    () => `KEY-${crypto.randomUUID().toUpperCase()}`,
  );
  const arrived: Arrived[] = [];
  const watch: RequestHandler = (request, response, next) => {
    const startedAt = performance.now();
    const event = request.get('x-service-event') ?? '';
    response.on('finish', () => {
      const ms = performance.now() - startedAt;
      const { statusCode: status } = response;
      const known = outcomes.get(request.get('x-service-webhook') ?? '');
      const outcome = status === 401 ? 'rejected' : (known ?? 'goods');
      arrived.push({ event, answer: `${status} ${outcome}`, ms });
    });
    next();
  };
  const app = express().use(watch);
  app.post('/webhooks', toExpress(receiver)).post('/goods', toExpress(goods));
  const server: Server = createServer(app);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const shop: Shop = {
    url: `http://127.0.0.1:${port}`,
    mailServerIsDown: false,
    mails: [],
    take(event) {
      const place = arrived.findIndex((one) => one.event === event);
      return place < 0 ? undefined : arrived.splice(place, 1)[0];
    },
    async close() {
      await Promise.all([receiver.close({ server }), goods.close()]);
    },
  };
  return shop;
}

function row(isExpected: boolean, event: string, arrived: Arrived | undefined, text: string) {
  const { answer = 'none', ms = Number.NaN } = arrived ?? {};
  const sign = isExpected ? paint('green', '✓') : paint('red', '✗');
  const shown = answer.padEnd(13);
  const cells = [
    `${sign} ${event.padEnd(15)} `,
    `${answer.startsWith('2') ? shown : paint('yellow', shown)} ${paint('dim', ms.toFixed(1).padStart(6))} `,
  ];
  return `${cells.join(' ')} ${cut(text, width() - 41)}`;
}
