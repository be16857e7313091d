import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { toFetch } from 'storefront-webhooks/fetch';
import type { Contract } from './contract.js';
import { listen } from './listen.js';

/** The application of every fetch runtime. */
export function makeFetch({ receiver, lazy, down }: Contract) {
  const webhooks = toFetch(receiver);
  const toLazy = toFetch(lazy);
  const toDown = toFetch(down);
  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhooks') return webhooks(request);
    if (pathname === '/lazy') return toLazy(request);
    if (pathname === '/down') return toDown(request);
    const body = await request.json();
    return pathname === '/parsed' ? webhooks(request) : Response.json(body);
  };
}

export function serve(contract: Contract) {
  return listen(createAdaptorServer({ fetch: makeFetch(contract) }) as Server);
}
