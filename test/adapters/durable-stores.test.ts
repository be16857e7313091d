import { createServer } from 'node:http';
import { type ReplayTarget, replay } from 'storefront-webhooks/testing';
import { beforeEach, expect, test, vi } from 'vitest';
import { SECRET } from './apps/contract.js';

const written = vi.spyOn(console, 'error').mockImplementation(() => {});
beforeEach(() => {
  // It is said once per process, and here each test is one.
  vi.resetModules();
  written.mockClear();
});

/** Mounts a receiver that has nobody chosen a store for. */
async function mount(platform: string): Promise<ReplayTarget> {
  const { createReceiver } = await import('storefront-webhooks');
  const make = () => createReceiver({ secret: SECRET }).on('*', () => {});
  switch (platform) {
    case 'Workers': {
      const { toWorker } = await import('storefront-webhooks/workers');
      const worker = toWorker(make);
      return { fetch: (request) => worker.fetch(request, {}, { waitUntil() {} }) };
    }
    case 'Next, App Router': {
      const { toNext } = await import('storefront-webhooks/next');
      return toNext(make);
    }
    case 'Next, Pages Router': {
      const { toNextPages } = await import('storefront-webhooks/next-pages');
      return createServer(toNextPages(make));
    }
    case 'Lambda': {
      const { toLambda } = await import('storefront-webhooks/lambda');
      const handler = toLambda(make);
      return async (request: Request) => {
        const { statusCode, headers, body } = await handler({
          requestContext: { http: { method: request.method } },
          headers: Object.fromEntries(request.headers),
          body: await request.text(),
        });
        return new Response(body, { status: statusCode, headers });
      };
    }
    default: {
      const { toNodeHandler } = await import('storefront-webhooks/node');
      return createServer(toNodeHandler(make));
    }
  }
}

test.each([
  ['Workers', 'durableObjectStore(…) or d1Store(…) of storefront-webhooks/cloudflare'],
  ['Next, App Router', 'Pass postgresStore(…) or redisStore(…) as'],
  ['Next, Pages Router', 'Pass postgresStore(…) or redisStore(…) as'],
  ['Lambda', 'Pass postgresStore(…) or redisStore(…) as'],
  ['a server', 'Pass sqliteStore(…), postgresStore(…) or redisStore(…) as'],
])('on %s, the default store warns once, and names a durable one', async (platform, named) => {
  const target = await mount(platform);
  for (const id of ['one', 'two']) {
    expect(await replay(target, 'order:paid', { secret: SECRET, id })).toMatchObject({
      outcome: 'handled',
    });
  }
  expect(written).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(named));
});
