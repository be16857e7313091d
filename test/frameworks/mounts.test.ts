import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { toNext } from 'storefront-webhooks/next';
import { toNextPages } from 'storefront-webhooks/next-pages';
import { toWorker } from 'storefront-webhooks/workers';
import { expect, test } from 'vitest';
import { ask } from '../../src/sandbox/trade/customers.js';
import { applications } from '../adapters/applications.js';
import { type Application, type Contract, makeContract } from '../adapters/apps/inside/contract.js';
import { listen, listenToFetch } from '../adapters/apps/inside/listen.js';
import { openShop, SECRET } from '../sandbox/webhooks/shop.js';

const EVENTS = [
  'order:created',
  'order:updated',
  'order:paid',
  'product:out_of_stock',
  'query:created',
];

/** Handlers of frameworks that are installed with the runtimes, called on Node as the framework would. */
const HANDLERS: [file: string, application: Pick<Application, 'serve'>][] = [
  ['next', { serve: ({ receiver }) => listenToFetch(toNext(receiver)) }],
  [
    'next-pages',
    { serve: ({ receiver }: Contract) => listen(createServer(toNextPages(receiver))) },
  ],
  [
    'workers',
    {
      serve({ receiver }) {
        const worker = toWorker(receiver);
        return listenToFetch((request) => worker.fetch(request, {}));
      },
    },
  ],
];
const MOUNTS = [...(await applications()), ...HANDLERS];

test('each adapter is tested', () => {
  const adapters = readdirSync('adapters').filter((name) => name.endsWith('.ts'));
  const mounted = MOUNTS.map(([file]) => `${file}.ts`);
  expect(mounted).toEqual(expect.arrayContaining(adapters));
});

test.each(MOUNTS)(
  '[spec: Events] the receiver mounted in %s handles each webhook of the sandbox, and rejects it under another secret',
  async (_, { serve }) => {
    const lines: string[] = [];
    const { port, close } = await serve(makeContract((line) => lines.push(line), SECRET));
    const shop = openShop({ clock: 'fast' });
    shop.subscribe(`http://127.0.0.1:${port}/webhooks`, EVENTS);
    shop.sell(shop.product({ product_type: 'serials', info: 'KEY' }));
    ask(shop.market, { email: 'a@example.com', title: 'Hi', message: 'Does it?' });
    await shop.idle();
    const logs = shop.logs();
    expect(new Set(logs.map(({ event }) => event))).toEqual(new Set(EVENTS));
    for (const { id, payload, response_code, response } of logs) {
      expect([response_code, response]).toEqual([200, expect.stringContaining('"handled"')]);
      const { length } = new TextEncoder().encode(JSON.stringify(payload));
      expect(lines).toContainEqual(expect.stringContaining(`handled ${id} of ${length} bytes.`));
    }

    shop.account.set({ webhook_secret: 'another secret' });
    const { id } = shop.order();
    await shop.idle();
    const refused = shop.logs().find(({ payload }) => payload.id === id);
    expect(refused).toMatchObject({ response_code: 401 });
    await shop.close();
    await close();
  },
);
