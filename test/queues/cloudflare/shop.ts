/**
 * A shop on the queue broker of workerd, with faults that can be enabled. Delays between attempts are recorded
 * and shortened.
 */
import type { D1Database, MessageBatch, Queue, R2Bucket } from '@cloudflare/workers-types';
import { createReceiver, type HandOff } from 'storefront-webhooks';
import {
  cloudflareQueue,
  cloudflareWorker,
  d1Store,
  type QueueBinding,
} from 'storefront-webhooks/cloudflare';
import { toWorker } from 'storefront-webhooks/workers';
import { SECRET } from '../../support/deliver.js';
import { durableStore } from '../../support/durable.js';

export interface Env {
  readonly WEBHOOKS: Queue;
  readonly D1_WEBHOOKS: Queue;
  readonly BODIES: R2Bucket;
  readonly DB: D1Database;
}

export interface State {
  /** The delivered orders, with the SHA-256 of the body. */
  readonly runs: { order: string; hash: string }[];
  readonly settled: {
    queue: string;
    how: 'ack' | 'retry';
    attempts: number;
    delaySeconds: number | undefined;
  }[];
}

export type Fault =
  | 'complete hangs and the invocation ends'
  | 'send hangs'
  | 'send rejects'
  | 'send rejects once it has sent'
  | 'the body is not cleared'
  | 'the invocation ends once it is complete'
  | 'the receiver cannot be made'
  | 'the store is down';

export interface Faults {
  readonly on?: readonly Fault[];
  /** Orders that fail, and how often. */
  readonly bad?: Record<string, number>;
}

let faults: Faults = {};
let state: State = { runs: [], settled: [] };
let endInvocation: (error: Error) => void = () => {};
const has = (fault: Fault) => faults.on?.includes(fault) ?? false;
const never = new Promise<never>(() => {});

/** In D1, because it is shared by several invocations and survives them. */
const storeOf = (env: Env) =>
  durableStore(
    (store) => ({
      claim: async (...args) => {
        if (has('the store is down')) throw new Error('the store is down');
        return store.claim(...args);
      },
      complete: async (...args) => {
        if (has('complete hangs and the invocation ends')) return die();
        const completed = await store.complete(...args);
        return has('the invocation ends once it is complete') ? die() : completed;
      },
    }),
    d1Store(env.DB),
  );

function die(): Promise<never> {
  faults = {};
  // The memory of the process is lost.
  handlers = makeHandlers();
  endInvocation(new Error('the invocation ends here'));
  return never;
}

const faulty = (queue: Queue): QueueBinding => ({
  send: async (message, options) => {
    if (has('send rejects')) throw new Error('the queue is down');
    if (has('send hangs')) return never;
    await queue.send(message, options);
    if (has('send rejects once it has sent')) throw new Error('the connection was lost');
  },
});

function makeReceiver(env: Env, queue: HandOff) {
  return createReceiver({ secret: SECRET, store: storeOf(env), queue }).on(
    'order:paid',
    async ({ payload: { id: order }, rawBody }) => {
      const left = faults.bad?.[order] ?? 0;
      if (left > 0) {
        faults = { ...faults, bad: { ...faults.bad, [order]: left - 1 } };
        throw new Error('cannot be delivered');
      }
      const digest = await crypto.subtle.digest('SHA-256', Uint8Array.from(rawBody));
      state.runs.push({ order, hash: hex(new Uint8Array(digest)) });
    },
  );
}

const hex = (bytes: Uint8Array) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

const inR2 = (env: Env) => cloudflareQueue(faulty(env.WEBHOOKS), { large: env.BODIES });
const webhooks = {
  '/none': toWorker((env: Env) => makeReceiver(env, cloudflareQueue(faulty(env.WEBHOOKS)))),
  '/r2': toWorker((env: Env) => makeReceiver(env, inR2(env))),
  '/d1': toWorker((env: Env) =>
    makeReceiver(env, cloudflareQueue(faulty(env.D1_WEBHOOKS), { large: env.DB })),
  ),
};

function bodiesOf(env: Env): R2Bucket {
  // A proxy whose methods keep the binding as their `this`.
  return new Proxy(env.BODIES, {
    get: (bucket, name) => {
      if (name === 'put' && has('the body is not cleared'))
        return () => Promise.reject(new Error('the bucket is down'));
      const value = Reflect.get(bucket, name);
      return typeof value === 'function' ? value.bind(bucket) : value;
    },
  });
}

function makeHandlers() {
  const make = (env: Env) => {
    if (has('the receiver cannot be made')) throw new Error('a secret is missing');
    return makeReceiver(env, inR2(env));
  };
  return {
    r2: cloudflareWorker<Env>(make, {
      queue: 'webhooks',
      deadLetterQueue: 'webhooks-dead',
      large: bodiesOf,
    }),
    d1: cloudflareWorker<Env>(make, {
      queue: 'd1-webhooks',
      deadLetterQueue: 'd1-webhooks-dead',
      large: (env) => env.DB,
    }),
  };
}
let handlers = makeHandlers();

/** The batch. Its messages report how they are settled, and are retried soon. */
function noted({ queue, messages }: MessageBatch) {
  const note = (how: 'ack' | 'retry', attempts: number, delaySeconds?: number) =>
    state.settled.push({ queue, how, attempts, delaySeconds });
  return {
    queue,
    messages: messages.map((message) => ({
      id: message.id,
      body: message.body,
      attempts: message.attempts,
      ack: () => {
        note('ack', message.attempts);
        message.ack();
      },
      retry: ({ delaySeconds }: { delaySeconds?: number } = {}) => {
        note('retry', message.attempts, delaySeconds);
        message.retry({ delaySeconds: queue.endsWith('dead') ? 1 : 0 });
      },
    })),
  };
}

async function answer(request: Request, env: Env, { pathname, searchParams }: URL) {
  switch (`${request.method} ${pathname}`) {
    case 'POST /faults':
      faults = (await request.json()) as Faults;
      return {};
    case 'POST /message':
      await env.WEBHOOKS.send(await request.json(), { contentType: 'json' });
      return {};
    case 'POST /forget':
      state = { runs: [], settled: [] };
      for (const { key } of (await env.BODIES.list()).objects) await env.BODIES.delete(key);
      await env.DB.prepare('DROP TABLE IF EXISTS webhook_body').run();
      return {};
    case 'POST /receivers':
      handlers = makeHandlers();
      return {};
    case 'GET /state':
      return state;
    case 'GET /r2':
      return (await env.BODIES.list()).objects.map(({ key, size }) => ({ name: key, size }));
    case 'GET /d1':
      return (await env.DB.prepare('SELECT name, length(body) AS size, at FROM webhook_body').all())
        .results;
    case 'POST /age':
      await env.DB.prepare('UPDATE webhook_body SET at = at - 31 * 24 * 60 * 60').run();
      return {};
    case 'POST /body':
      await env.BODIES.put(searchParams.get('name') ?? '', await request.text());
      return {};
    case 'GET /dead':
      return (await storeOf(env).list({ state: 'dead', limit: 100 })).map(({ id, error }) => ({
        id,
        error,
      }));
    case 'POST /redrive': {
      const receiver = makeReceiver(env, inR2(env));
      const dead = await storeOf(env).list({ state: 'dead', limit: 100 });
      return Promise.all(dead.map((delivery) => receiver.redrive(delivery)));
    }
    default:
      return undefined;
  }
}

export default {
  async fetch(request: Request, env: Env, context: { waitUntil(promise: Promise<unknown>): void }) {
    const url = new URL(request.url);
    const path = url.pathname;
    if (request.method === 'POST' && (path === '/none' || path === '/r2' || path === '/d1'))
      return webhooks[path].fetch(request, env, context);
    const answered = await answer(request, env, url);
    return answered
      ? Response.json(answered)
      : new Response(null, { status: 404, headers: { 'content-type': 'text/plain' } });
  },
  queue(batch: MessageBatch, env: Env) {
    const handle = batch.queue.startsWith('d1') ? handlers.d1 : handlers.r2;
    const ended = new Promise<never>((_, reject) => {
      endInvocation = reject;
    });
    return Promise.race([handle(noted(batch), env), ended]);
  },
};
