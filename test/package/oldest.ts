/** The oldest supported version of each framework and client. docs/mount.md, queues.md and stores.md name them. */
export const OLDEST = {
  '@opentelemetry/api': '1.3.0',
  bullmq: '5.0.0',
  express: '4.16.0',
  fastify: '4.0.0',
  hono: '3.0.0',
  ioredis: '4.0.0',
  koa: '2.0.0',
  libsql: '0.4.0',
  pg: '8.0.3',
  'pg-boss': '10.0.0',
  postgres: '3.0.0',
  redis: '4.0.0',
} as const;

/** Versions that a project may use beside this package, but not with it, and a prerelease. */
export const UNUSABLE = {
  '@opentelemetry/api': '1.0.0',
  bullmq: '4.18.3',
  express: '3.21.2',
  fastify: '3.10.0',
  elysia: '1.0.0',
  hono: '2.7.8',
  koa: '1.7.1',
  next: '12.3.7',
  'pg-boss': '9.0.3',
  react: '18.3.1',
  'react-dom': '18.3.1',
  redis: '3.1.2',
} as const;

/** Returns what npm, pnpm and Yarn install. */
export const specsOf = (versions: Readonly<Record<string, string>>) =>
  Object.entries(versions).map(([name, version]) => `${name}@${version}`);

/** Returns some of the oldest versions. */
export function oldest(...names: (keyof typeof OLDEST)[]) {
  return Object.fromEntries(names.map((name) => [name, OLDEST[name]]));
}
