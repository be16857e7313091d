import { createServer } from 'node:http';
import { type ReplayTarget, replay } from 'storefront-webhooks/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SECRET } from './apps/inside/contract.js';

const written = vi.spyOn(console, 'error').mockImplementation(() => {});
beforeEach(() => {
  // A process logs the warning once. Reset the modules, so that each test is like a new process.
  vi.resetModules();
  written.mockClear();
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Mounts a receiver without a store. */
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
        const {
          statusCode,
          headers = {},
          body,
        } = await handler({
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

const OF_ONE =
  'memory of this process only, so one can be handled twice. Pass sqliteStore(…), postgresStore(…)';
const OF_SEVERAL = 'each instance on this platform';

test.each([
  ['Workers', '', 'durableObjectStore(…) or d1Store(…) of storefront-webhooks/cloudflare'],
  ['Next, App Router', '1', OF_SEVERAL],
  ['Next, Pages Router', '1', OF_SEVERAL],
  // Next on a server of the seller, not on Vercel.
  ['Next, App Router', '', OF_ONE],
  ['Next, Pages Router', '', OF_ONE],
  ['Lambda', '', 'Pass postgresStore(…) or redisStore(…) as'],
  ['a server', '', OF_ONE],
])(
  'on %s (VERCEL=%s), the default store warns once, and names a durable one',
  async (platform, vercel, named) => {
    vi.stubEnv('VERCEL', vercel);
    const target = await mount(platform);
    for (const id of ['one', 'two']) {
      expect(await replay(target, 'order:paid', { secret: SECRET, id })).toMatchObject({
        outcome: 'handled',
      });
    }
    expect(written).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(named));
  },
);
