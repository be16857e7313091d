import { createServer } from 'node:http';
import { createApp, eventHandler, fromWebHandler, readBody, toNodeListener } from 'h3';
import { toFetch } from 'storefront-webhooks/fetch';
import type { Contract } from './contract.js';
import { listen } from './listen.js';

/** What Nitro serves its routes with. */
export function serve({ receiver, lazy, down }: Contract) {
  const app = createApp();
  app.use('/webhooks', fromWebHandler(toFetch(receiver)));
  app.use('/lazy', fromWebHandler(toFetch(lazy)));
  app.use('/down', fromWebHandler(toFetch(down)));
  app.use(
    '/echo',
    eventHandler((event) => readBody(event)),
  );
  return listen(createServer(toNodeListener(app)));
}
