import type { Server } from 'node:http';
import { node } from '@elysiajs/node';
import { Elysia } from 'elysia';
import { toElysia } from 'storefront-webhooks/elysia';
import type { Application, Contract, Listening } from './inside/contract.js';
import { listening, listenToFetch } from './inside/listen.js';

export const application: Application = { name: 'toElysia', serve, parsed: /parse: 'none'/ };

const isNode = !('Bun' in globalThis || 'Deno' in globalThis);

async function serve({ receiver, lazy, down, goods }: Contract): Promise<Listening> {
  const app = new Elysia(isNode ? { adapter: node() } : {})
    .all('/webhooks', toElysia(receiver), { parse: 'none' })
    .all('/lazy', toElysia(lazy), { parse: 'none' })
    .all('/down', toElysia(down), { parse: 'none' })
    .all('/goods', toElysia(goods), { parse: 'none' })
    .all('/parsed', toElysia(receiver), { parse: 'json' })
    .post('/echo', ({ body }) => body);
  if (!isNode) return listenToFetch(async (request) => app.fetch(request));
  return new Promise((resolve) => {
    app.listen({ port: 0, hostname: '127.0.0.1' }, async (server) => {
      // Its adapter for Node returns more than its types declare.
      const { raw } = server as unknown as {
        raw: { ready(): Promise<void>; node: { server: Server } };
      };
      await raw.ready();
      resolve(listening(raw.node.server));
    });
  });
}
