import { buffer } from 'node:stream/consumers';
import fastify from 'fastify';
import { toFastify } from 'storefront-webhooks/fastify';
import type { Application, Contract, Listening } from './inside/contract.js';

export const application: Application = { name: 'toFastify', serve, parsed: /preParsing/ };

async function serve({ receiver, lazy, down, goods }: Contract): Promise<Listening> {
  const app = fastify({ forceCloseConnections: true });
  app.register(toFastify(receiver), { prefix: '/webhooks' });
  app.register(toFastify(lazy), { prefix: '/lazy' });
  app.register(toFastify(down), { prefix: '/down' });
  app.register(toFastify(goods), { prefix: '/goods' });
  app.register(async (parsed) => {
    parsed.addHook('preParsing', async (request) => {
      await buffer(request.raw);
    });
    parsed.register(toFastify(receiver), { prefix: '/parsed' });
  });
  app.post('/echo', (request, reply) => reply.send(request.body));
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  return { port: Number(new URL(address).port), close: () => app.close() };
}
