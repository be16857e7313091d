import { toFetch } from 'storefront-webhooks/fetch';
import type { Application, Contract } from './inside/contract.js';
import { listenToFetch } from './inside/listen.js';

export const application: Application = {
  name: 'toFetch',
  serve: (contract) => listenToFetch(makeFetch(contract)),
  parsed: /before anything calls request\.json/,
};

function makeFetch({ receiver, lazy, down, goods }: Contract) {
  const webhooks = toFetch(receiver);
  const toLazy = toFetch(lazy);
  const toDown = toFetch(down);
  const toGoods = toFetch(goods);
  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhooks') return webhooks(request);
    if (pathname === '/lazy') return toLazy(request);
    if (pathname === '/down') return toDown(request);
    if (pathname === '/goods') return toGoods(request);
    const body = await request.json();
    return pathname === '/parsed' ? webhooks(request) : Response.json(body);
  };
}
