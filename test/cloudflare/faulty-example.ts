/** The example for Cloudflare, whose queue can be down and whose deliveries can be made older. */
import type { DurableObjectState } from '@cloudflare/workers-types';
import shop, { WebhookDeliveries as Deliveries } from '../../examples/cloudflare/index.js';

type Fetch = typeof shop.fetch;
type Env = Parameters<Fetch>[1];

export class WebhookDeliveries extends Deliveries {
  readonly #storage: DurableObjectState['storage'];

  constructor(state: DurableObjectState, env: unknown) {
    super(state, env);
    this.#storage = state.storage;
  }

  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== '/age') return super.fetch(request);
    try {
      this.#storage.sql.exec('UPDATE webhook_delivery SET not_before = not_before - 120000');
    } catch {
      // The database has no tables yet.
    }
    return Response.json({});
  }
}

/** Moves all times of the store two minutes into the past. */
async function age({ DELIVERIES }: Env): Promise<Response> {
  for (let shard = 0; shard < 16; shard++) {
    const object = DELIVERIES.get(DELIVERIES.idFromName(`${shard} of 16`));
    await object.fetch('https://test/age', { method: 'POST' });
  }
  return Response.json({});
}

const withoutQueue = (env: Env): Env => ({
  ...env,
  WEBHOOKS: new Proxy(env.WEBHOOKS, {
    get: () => () => Promise.reject(new Error('the queue is down')),
  }),
});

export default {
  ...shop,
  async fetch(...[request, env, context]: Parameters<Fetch>): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/age') return age(env);
    const isDown = searchParams.get('queue') === 'down';
    return shop.fetch(request, isDown ? withoutQueue(env) : env, context);
  },
};
