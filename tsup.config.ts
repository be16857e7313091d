import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    express: 'adapters/express.ts',
    fastify: 'adapters/fastify.ts',
    fetch: 'adapters/fetch.ts',
    hono: 'adapters/hono.ts',
    koa: 'adapters/koa.ts',
    lambda: 'adapters/lambda.ts',
    next: 'adapters/next.ts',
    'next-pages': 'adapters/next-pages.ts',
    node: 'adapters/node.ts',
    workers: 'adapters/workers.ts',
    sqlite: 'src/stores/sqlite/index.ts',
    postgres: 'src/stores/postgres/index.ts',
    redis: 'src/stores/redis/index.ts',
    bullmq: 'src/queues/bullmq/index.ts',
    'pg-boss': 'src/queues/pg-boss/index.ts',
    cloudflare: 'src/cloudflare.ts',
    opentelemetry: 'src/report/opentelemetry/index.ts',
    testing: 'src/testing/index.ts',
  },
  format: ['esm', 'cjs'],
  target: 'es2022',
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
  // Shared code once, so that a class is the same class whichever subpath it came through.
  splitting: true,
  // Gives CommonJS an import.meta.url, by which the testing subpath finds the saved fixtures.
  shims: true,
  clean: true,
});
