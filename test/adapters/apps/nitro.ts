import { createServer } from 'node:http';
import { createApp, eventHandler, fromNodeMiddleware, readBody, toNodeListener } from 'h3';
import { toNodeHandler } from 'storefront-webhooks/node';
import type { Application, Contract } from './inside/contract.js';
import { listen } from './inside/listen.js';

export const application: Application = {
  name: 'toNodeHandler in Nitro',
  serve,
  parsed: /before anything reads the request/,
};

/** The handler type of Nitro's routes. */
function serve({ receiver, lazy, down, goods }: Contract) {
  const app = createApp();
  const webhooks = fromNodeMiddleware(toNodeHandler(receiver));
  app.use('/webhooks', webhooks);
  app.use('/lazy', fromNodeMiddleware(toNodeHandler(lazy)));
  app.use('/down', fromNodeMiddleware(toNodeHandler(down)));
  app.use('/goods', fromNodeMiddleware(toNodeHandler(goods)));
  app.use(
    '/parsed',
    eventHandler(async (event) => {
      await readBody(event);
      return webhooks(event);
    }),
  );
  app.use(
    '/echo',
    eventHandler((event) => readBody(event)),
  );
  return listen(createServer(toNodeListener(app)));
}
