/**
 * A shop on Cloudflare. The receiver answers a webhook when the queue has it, and the queue's consumer moves the
 * stock exactly once. /dead lists the orders that could not be delivered, and retries them.
 */
import type {
  D1Database,
  DurableObjectNamespace,
  Queue,
  R2Bucket,
} from '@cloudflare/workers-types';
import {
  createReceiver,
  type Order,
  type StoredDelivery,
  type WebhookEvent,
} from 'storefront-webhooks';
import {
  cloudflareQueue,
  cloudflareWorker,
  d1Ledger,
  durableObjectStore,
} from 'storefront-webhooks/cloudflare';
import { toWorker, type WorkerContext } from 'storefront-webhooks/workers';

// The class of the store's Durable Objects.
export { WebhookDeliveries } from 'storefront-webhooks/cloudflare';

interface Env {
  readonly WEBHOOK_SECRET: string;
  readonly ADMIN_SECRET: string;
  readonly WEBHOOKS: Queue;
  readonly BODIES: R2Bucket;
  readonly DELIVERIES: DurableObjectNamespace;
  readonly DB: D1Database;
}

function makeReceiver(env: Env) {
  return createReceiver({
    secret: env.WEBHOOK_SECRET,
    store: durableObjectStore(env.DELIVERIES),
    queue: cloudflareQueue(env.WEBHOOKS, { large: env.BODIES }),
  }).onPaid((event) => sell(event, env.DB));
}

async function sell(event: WebhookEvent<string, Order>, db: D1Database) {
  const { id, product_id: product = '', quantity } = event.payload;
  // A default of 1 would sell one piece if the quantity is unreadable, such as the text "3": translate it in `unwrap`.
  if (!quantity || quantity < 1)
    throw new Error('This order has no quantity that is a positive number.');
  const isNew = await d1Ledger(db).batch(event, [
    db.prepare('UPDATE stock SET pieces = pieces - ?2 WHERE product = ?1').bind(product, quantity),
    db.prepare('INSERT INTO sale (order_id, product) VALUES (?1, ?2)').bind(id, product),
  ]);
  if (isNew) console.log(`Sold order ${id}`);
}

const webhooks = toWorker(makeReceiver);

export default {
  async fetch(request: Request, env: Env, context: WorkerContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhooks') return webhooks.fetch(request, env, context);
    if (pathname === '/stock') return handleStock(request, env);
    if (pathname === '/dead') return handleDead(request, env, context);
    return new Response('Not found', { status: 404 });
  },
  // The consumer of both queues, whose names are in wrangler.jsonc.
  queue: cloudflareWorker(makeReceiver, {
    queue: 'webhooks',
    deadLetterQueue: 'webhooks-dead',
    large: (env) => env.BODIES,
  }),
};

/** GET shows the stock, PUT sets the stock of a product. */
async function handleStock(request: Request, env: Env): Promise<Response> {
  if (request.method === 'PUT') {
    if (!(await isAdmin(request, env))) return new Response('Unauthorized', { status: 401 });
    const { product, pieces } = (await request.json()) as { product: string; pieces: number };
    const set = env.DB.prepare('INSERT OR REPLACE INTO stock (product, pieces) VALUES (?1, ?2)');
    await set.bind(product, pieces).run();
  }
  return Response.json((await env.DB.prepare('SELECT product, pieces FROM stock').all()).results);
}

/** GET lists the orders that could not be delivered, POST retries them. */
async function handleDead(request: Request, env: Env, context: WorkerContext): Promise<Response> {
  if (!(await isAdmin(request, env))) return new Response('Unauthorized', { status: 401 });
  const store = durableObjectStore(env.DELIVERIES);
  const dead = await store.list({ state: 'dead', limit: 100 });
  // An order is stalled after a POST that could not put it into the queue. One that waits in the queue for its next
  // attempt is stalled, too: a second message about it does no harm.
  const stalled = await store.list({ state: 'stalled', limit: 100 });
  const stuck = [...dead, ...stalled];
  if (request.method !== 'POST') {
    return Response.json(stuck.map(({ id, event, state, error }) => ({ id, event, state, error })));
  }
  const redriving = redriveAll(stuck, env);
  // Goes on if the sender of the POST hangs up.
  context.waitUntil(redriving);
  return Response.json(await redriving);
}

/** Also retries orders that were interrupted and may be sold: the ledger does not sell them again. */
async function redriveAll(stuck: readonly StoredDelivery[], env: Env) {
  const receiver = makeReceiver(env);
  const results = [];
  for (const delivery of stuck) {
    const result = await receiver.redrive(delivery);
    results.push(result);
    // The queue or the store is down. The others stay as they are.
    if (result.outcome === 'unavailable') break;
  }
  return results;
}

async function isAdmin(request: Request, { ADMIN_SECRET }: Env): Promise<boolean> {
  if (!ADMIN_SECRET) return false;
  const given = request.headers.get('authorization') ?? '';
  // Compare digests, so that the time of the comparison reveals nothing about the secret.
  return (await digest(given)) === (await digest(`Bearer ${ADMIN_SECRET}`));
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return new Uint8Array(bytes).join();
}
