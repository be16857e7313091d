/**
 * The stores of Cloudflare in a Worker. Takes a call as JSON, and returns its answer as JSON. The `wrangler.jsonc`
 * beside it serves it.
 */
import type {
  D1Database,
  DurableObjectNamespace,
  DurableObjectState,
  Fetcher,
  KVNamespace,
} from '@cloudflare/workers-types';
import {
  type Claimable,
  createReceiver,
  type IdempotencyStore,
  type LeaseTerms,
  type Order,
} from 'storefront-webhooks';
import {
  d1Ledger,
  d1Store,
  durableObjectStore,
  storageStore,
  WebhookDeliveries,
} from 'storefront-webhooks/cloudflare';
import { toFetch } from 'storefront-webhooks/fetch';
import { toWorker } from 'storefront-webhooks/workers';
import { forward, toLimit, withContract } from '../../../src/stores/contract.js';
import { Purge } from '../../../src/stores/d1/purge.js';
import { D1Store } from '../../../src/stores/d1/store.js';
import {
  decode as fromFrame,
  encode as toFrame,
  toUrl,
} from '../../../src/stores/durable-object/frames.js';
import { answer, type Call, type RemoteVerbs } from '../../support/remote-answer.js';
import type { Effect, Sql, Which } from './served.js';

interface Env {
  readonly DELIVERIES: DurableObjectNamespace<TestDeliveries>;
  readonly SLEEPING: DurableObjectNamespace<SleepingDeliveries>;
  readonly SHOP_OBJECT: DurableObjectNamespace;
  readonly KEY_VALUE: DurableObjectNamespace;
  readonly DB: D1Database;
  readonly SHOP: D1Database;
  readonly KV: KVNamespace;
  readonly SERVICE: Fetcher;
  readonly SECRET: string;
}

/** Also runs any statement with which a test prepares or inspects it. */
export class TestDeliveries extends WebhookDeliveries {
  readonly #storage: DurableObjectState['storage'];

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#storage = state.storage;
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/sql') {
      return Response.json(this.#storage.sql.exec(await request.text()).toArray());
    }
    if (pathname === '/wipe') {
      try {
        this.#storage.sql.exec('DELETE FROM webhook_delivery').toArray();
      } catch {
        // The database has no tables yet.
      }
      return new Response();
    }
    if (pathname === '/alarm') return Response.json(await this.#storage.getAlarm());
    return super.fetch(request);
  }
}

/** Purges only on request, so that a test can count the rows. */
export class SleepingDeliveries extends TestDeliveries {
  override async alarm(): Promise<void> {}
}

/** A shop whose receiver runs in its own object, beside its sales. The id of an order says what happens to it. */
export class ShopObject {
  readonly #storage: DurableObjectState['storage'];
  readonly #routes: Readonly<Record<string, (request: Request) => Promise<Response>>>;

  constructor(state: DurableObjectState, env: Env) {
    const { storage } = state;
    this.#storage = storage;
    let failures = 0;
    const sell = ({ payload: { id } }: { readonly payload: Order }) => {
      storage.sql.exec('INSERT INTO sold (order_id) VALUES (?)', id);
      if (id.includes('abort')) state.abort('the object ends');
      if (id.includes('fail') && failures++ === 0) throw new Error('it fails once it has sold');
    };
    const shop = (scope: string) =>
      createReceiver({ secret: env.SECRET, store: storageStore(storage), scope });
    this.#routes = {
      '/shop': toFetch(shop('in a transaction').onPaid(sell, { transaction: true })),
      '/shop/plain': toFetch(shop('plain').onPaid(sell)),
    };
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const route = this.#routes[pathname];
    if (route) return route(request);
    return new Response(await answer(await request.text(), () => this.#verbs()));
  }

  #verbs(): RemoteVerbs {
    const sql = (query: string) => this.#storage.sql.exec(query).toArray();
    return {
      ...bound(storageStore(this.#storage)),
      sql,
    };
  }
}

/** An object of a class without SQLite. Answers with the error of the store. */
export class KeyValueObject {
  readonly #storage: DurableObjectState['storage'];

  constructor({ storage }: DurableObjectState) {
    this.#storage = storage;
  }

  async fetch(): Promise<Response> {
    try {
      return new Response(storageStore(this.#storage).description);
    } catch (error) {
      return new Response(`${error}`);
    }
  }
}

const realNow = Date.now;

function verbsOf(env: Env, which: Which): RemoteVerbs {
  const { shards = 16 } = which;
  const namespace = which.sleeps ? env.SLEEPING : env.DELIVERIES;
  const object = (shard: number) => namespace.get(namespace.idFromName(`${shard} of ${shards}`));
  const numbers = Array.from({ length: shards }, (_, shard) => shard);
  const objectSql = async (shard: number, sql: string): Promise<unknown> => {
    const answer = await object(shard).fetch('https://test/sql', { method: 'POST', body: sql });
    return answer.json();
  };
  const common = {
    sold: async () => (await env.SHOP.prepare('SELECT * FROM sold').all()).results,
    /** Sets the clock of this isolate. */
    shiftClock: (ms: number) => {
      Date.now = () => realNow() + ms;
    },
    refusal: (what: 'receiver' | 'd1' | 'objects', binding: 'KV' | 'SERVICE' | 'STUB' | 'NONE') => {
      const bindings = { KV: env.KV, SERVICE: env.SERVICE, STUB: object(0), NONE: undefined };
      const store = bindings[binding] as never;
      if (what === 'receiver') createReceiver({ secret: env.SECRET, store });
      else if (what === 'd1') d1Store(store);
      else durableObjectStore(store);
    },
  };
  if (which.store === 'd1') {
    const sql = (query: string) => env.DB.prepare(query).all();
    const bindSql = ([query, ...values]: Sql) => env.DB.prepare(query).bind(...values);
    return {
      ...common,
      // Without this, the rows that a completion purges would be missing from the count of `purge`.
      ...bound(withContract(new D1Store(env.DB, new Purge(env.DB, Number.POSITIVE_INFINITY)))),
      sql: async (query: string) => (await sql(query)).results,
      batch: async (statements: readonly Sql[]) =>
        (await env.DB.batch(statements.map(bindSql))).map(({ results }) => results),
      entered: (keys: readonly string[]) => d1Ledger(env.DB).entered(keys),
      once: (effect: Effect, statements: readonly Sql[]) =>
        d1Ledger(env.DB).batch(effect, statements.map(bindSql)),
    };
  }
  return {
    ...common,
    ...bound(durableObjectStore(namespace, { shards })),
    /** Purges as the alarm does. */
    purge: async (limit: number) => {
      let purged = 0;
      for (const shard of numbers) {
        const init = { method: 'POST', body: toFrame([toLimit(limit) - purged]) };
        const answer = await object(shard).fetch(toUrl('purge'), init);
        purged += Number(fromFrame(await answer.arrayBuffer()));
      }
      return purged;
    },
    storePurge: (limit: number) => durableObjectStore(namespace, { shards }).purge(limit),
    objectSql,
    alarm: async (shard: number) => (await object(shard).fetch('https://test/alarm')).json(),
    raw: async (path: string, body: string) => {
      const answer = await object(0).fetch(path, { method: 'POST', body });
      return [answer.status, new TextDecoder().decode(await answer.arrayBuffer()).slice(4)];
    },
    wipe: () =>
      Promise.all(
        numbers.map((shard) => object(shard).fetch('https://test/wipe', { method: 'POST' })),
      ).then(() => {}),
  };
}

function bound(store: IdempotencyStore): RemoteVerbs {
  const {
    durable: _,
    description: __,
    whenSilent: ___,
    transactions: ____,
    maxBodyBytes: _____,
    ...verbs
  } = forward(store);
  return {
    ...verbs,
    claimLarge: (delivery: Claimable, lease: LeaseTerms, size: number) =>
      store.claim({ ...delivery, body: new Uint8Array(size) }, lease),
  };
}

/** A shop that counts its stock in its own database. */
const webhooks = toWorker((env: Env) => {
  const ledger = d1Ledger(env.SHOP);
  return createReceiver({ secret: env.SECRET, store: durableObjectStore(env.DELIVERIES) }).on(
    'order:paid',
    async (event) => {
      await env.SHOP.prepare('CREATE TABLE IF NOT EXISTS sold (id TEXT, calls INTEGER)').run();
      const sell = env.SHOP.prepare('INSERT INTO sold VALUES (?, 1)').bind(event.payload.id);
      if (await ledger.batch(event, [sell])) throw new Error('it fails once it has sold');
    },
  );
});

/** A shop whose sales are in the database of its store. */
const sales = toWorker((env: Env) =>
  createReceiver({ secret: env.SECRET, store: d1Store(env.DB) }).onPaid(
    ({ payload: { id }, tx }) =>
      tx.add(env.DB.prepare('INSERT INTO sold (order_id) VALUES (?)').bind(id)),
    { transaction: true },
  ),
);

function shopOf(env: Env) {
  return env.SHOP_OBJECT.get(env.SHOP_OBJECT.idFromName('shop'));
}

/** Whether a call is to the store in the object of the shop. */
function isOfShop(line: string): boolean {
  return (JSON.parse(line) as { which: Which }).which.store === 'storage';
}

/** Takes a line of JSON for each call, and sends one for each answer, until the test disconnects. */
async function serve(port: number, env: Env): Promise<void> {
  const { connect } = await import('cloudflare:sockets' as string);
  const socket = connect({ hostname: '127.0.0.1', port });
  const writer = socket.writable.getWriter();
  const text = new TextEncoder();
  let line = '';
  for await (const piece of socket.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (line + piece).split('\n');
    line = lines.pop() ?? '';
    for (const one of lines) {
      const reply = isOfShop(one)
        ? shopOf(env)
            .fetch('https://test/call', { method: 'POST', body: one })
            .then((of) => of.text())
        : answer<Call & { which: Which }>(one, ({ which }) => verbsOf(env, which));
      void reply.then((of) => writer.write(text.encode(of)));
    }
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/webhooks') return webhooks.fetch(request, env);
    if (pathname.startsWith('/shop')) return shopOf(env).fetch(request as never) as never;
    if (pathname === '/key-value')
      return env.KEY_VALUE.get(env.KEY_VALUE.idFromName('one')).fetch(request as never) as never;
    if (pathname === '/sales') return sales.fetch(request, env);
    await serve(Number(searchParams.get('port')), env);
    return new Response();
  },
};
