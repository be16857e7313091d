// Checks that the types match Cloudflare's. `npx tsc` compiles this file, and nothing runs it.
import type {
  D1Database,
  D1DatabaseSession,
  ExportedHandler,
  KVNamespace,
  Queue,
  R2Bucket,
} from '@cloudflare/workers-types';
import { createReceiver } from 'storefront-webhooks';
import { cloudflareQueue, cloudflareWorker } from 'storefront-webhooks/cloudflare';

interface Env {
  readonly WEBHOOK_SECRET: string;
  readonly WEBHOOKS: Queue;
  readonly TYPED: Queue<{ readonly key: string }>;
  readonly BODIES: R2Bucket;
  readonly DB: D1Database;
  readonly KV: KVNamespace;
}

declare const env: Env;
declare const session: D1DatabaseSession;

const makeReceiver = ({ WEBHOOK_SECRET: secret, WEBHOOKS, BODIES }: Env) =>
  createReceiver({ secret, queue: cloudflareQueue(WEBHOOKS, { large: BODIES }) });

const names = { queue: 'webhooks', deadLetterQueue: ['webhooks-dead'] };

export const worker: ExportedHandler<Env> = {
  queue: cloudflareWorker(makeReceiver, { ...names, large: (env) => env.BODIES }),
};

export const others: ExportedHandler<Env, { readonly key: string }> = {
  queue: cloudflareWorker(async (env: Env) => makeReceiver(env), {
    ...names,
    large: ({ DB }) => DB,
  }),
};

export const ofReceiver: ExportedHandler<Env> = {
  queue: cloudflareWorker(makeReceiver(env), names),
};

export function bindingsAreTyped() {
  cloudflareQueue(env.TYPED, { large: env.DB });
  cloudflareQueue(env.WEBHOOKS, { large: session });
  // @ts-expect-error a bucket is not a queue
  cloudflareQueue(env.BODIES);
  // @ts-expect-error KV is not consistent
  cloudflareQueue(env.WEBHOOKS, { large: env.KV });
  // @ts-expect-error without a dead-letter queue, the platform drops messages that run out of retries
  cloudflareWorker(makeReceiver, { queue: 'webhooks' });
  // @ts-expect-error a binding with another name
  cloudflareWorker(makeReceiver, { ...names, large: ({ BUCKET }) => BUCKET });
  // @ts-expect-error a secret is not a receiver
  cloudflareWorker((env: Env) => env.WEBHOOK_SECRET, names);
}
