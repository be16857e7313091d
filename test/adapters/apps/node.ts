import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { toNodeHandler } from 'storefront-webhooks/node';
import type { Application, Contract } from './inside/contract.js';
import { listen } from './inside/listen.js';

export const application: Application = {
  name: 'toNodeHandler',
  serve,
  parsed: /before anything reads the request/,
};

function serve({ receiver, lazy, down, goods }: Contract) {
  const webhooks = toNodeHandler(receiver);
  const toLazy = toNodeHandler(lazy);
  const toDown = toNodeHandler(down);
  const toGoods = toNodeHandler(goods);
  return listen(
    createServer(async (request, response) => {
      const [path] = (request.url ?? '').split('?');
      if (path === '/webhooks') return webhooks(request, response);
      if (path === '/lazy') return toLazy(request, response);
      if (path === '/down') return toDown(request, response);
      if (path === '/goods') return toGoods(request, response);
      const body = await json(request);
      if (path === '/parsed') return webhooks(request, response);
      response.end(JSON.stringify(body));
    }),
  );
}
