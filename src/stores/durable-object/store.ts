import { UsageError, WebhookError } from '../../errors.js';
import { type ReadFilter, withContract } from '../contract.js';
import type { SqliteValue } from '../sqlite/database.js';
import { type RunStatement, StatementStore } from '../sqlite/statement-store.js';
import type { StatementName } from '../sqlite/statements.js';
import {
  COUNT_LIMIT,
  type CountFilter,
  type IdempotencyStore,
  type StoredDelivery,
} from '../store.js';
import { checkBinding } from './binding.js';
import { CONTENT_TYPE, decode, encode, OTHER_VERSION, toUrl } from './frames.js';
import { listInPages } from './pages.js';

/** The part of Cloudflare's `DurableObjectNamespace` that is used. */
export interface DeliveriesNamespace {
  idFromName(name: string): unknown;
  get(id: unknown): {
    fetch(
      url: string,
      init: { method: string; body: Uint8Array<ArrayBuffer> },
    ): Promise<{
      readonly headers: { get(name: string): string | null };
      readonly ok: boolean;
      arrayBuffer(): Promise<ArrayBuffer>;
    }>;
  };
}

/** How {@link durableObjectStore} spreads deliveries. */
export interface DurableObjectStoreOptions {
  /**
   * Over how many objects the deliveries are spread: one takes some hundred of them per second. With
   * another number, all that was remembered is out of sight, and is processed again if it comes again.
   * Default 16.
   */
  readonly shards?: number;
}

const MAX_SHARDS = 256;

/**
 * Remembers deliveries in Durable Objects of the class {@link WebhookDeliveries}: durable, for all the
 * isolates of a Worker, wherever they run.
 *
 * Its objects purge by themselves, so that its `purge` has nothing to do and gives 0. A body larger than
 * the 2 MB of a row is refused, and answered 503; the receiver's `limit` is 1 MiB unless you raise it.
 *
 * @throws {UsageError} `client_invalid` where it is given something else, `option_invalid`. Its verbs
 *   reject with the errors of the runtime, or with the `store_unavailable` that an object gives.
 *
 * @example
 * export { WebhookDeliveries } from 'storefront-webhooks/cloudflare';
 *
 * export default toWorker((env: Env) =>
 *   createReceiver({ secret: env.WEBHOOK_SECRET, store: durableObjectStore(env.DELIVERIES) }),
 * );
 */
export function durableObjectStore(
  namespace: DeliveriesNamespace,
  { shards = 16 }: DurableObjectStoreOptions = {},
): IdempotencyStore {
  checkBinding(namespace, {
    who: 'durableObjectStore',
    methods: ['idFromName', 'get'],
    what: 'the namespace of WebhookDeliveries, such as env.DELIVERIES',
    config: CONFIG,
  });
  if (!Number.isInteger(shards) || shards < 1 || shards > MAX_SHARDS) {
    throw new UsageError(
      'option_invalid',
      `durableObjectStore: the option shards has to be a whole number from 1 to ${MAX_SHARDS}.`,
    );
  }
  return withContract(new DurableObjectStore(namespace, shards));
}

const CONFIG =
  '"durable_objects": { "bindings": [{ "name": "DELIVERIES", "class_name": "WebhookDeliveries" }] } ' +
  'and "migrations": [{ "tag": "v1", "new_sqlite_classes": ["WebhookDeliveries"] }].';

class DurableObjectStore extends StatementStore {
  /** In the order of the keys that they hold. */
  readonly #shards: readonly StatementStore[];

  constructor(namespace: DeliveriesNamespace, count: number) {
    const description = `Durable Objects (${count} shard${count === 1 ? '' : 's'})`;
    const shards = Array.from({ length: count }, (_, shard) => {
      const id = namespace.idFromName(`${shard} of ${count}`);
      const run: RunStatement = (name, values) => ask(namespace, id, name, values);
      return { run, store: new StatementStore({ durable: true, description }, run) };
    });
    super({ durable: true, description }, async (name, values, key = '') => {
      const shard = shards[indexOf(key, count)];
      return shard ? shard.run(name, values) : [];
    });
    this.#shards = shards.map(({ store }) => store);
  }

  override async purge(): Promise<number> {
    return 0;
  }

  override async list(filter: ReadFilter): Promise<StoredDelivery[]> {
    const found: StoredDelivery[] = [];
    const { limit, after } = filter;
    for (const shard of this.#shards.slice(indexOf(after, this.#shards.length))) {
      if (found.length >= limit) break;
      const rest = { ...filter, limit: limit - found.length };
      found.push(...(await listInPages((page) => shard.list(page), rest)));
    }
    return found;
  }

  override async count(filter: CountFilter): Promise<number> {
    const counts = await Promise.all(this.#shards.map((shard) => shard.count(filter)));
    return Math.min(
      COUNT_LIMIT,
      counts.reduce((sum, count) => sum + count, 0),
    );
  }
}

/** Which of so many shards holds a key. */
function indexOf(key: string, count: number): number {
  const part = Number.parseInt(key.slice(0, 8).padEnd(8, '0'), 16) / 2 ** 32;
  return Math.floor(part * count);
}

async function ask(
  namespace: DeliveriesNamespace,
  id: unknown,
  name: StatementName,
  values: readonly SqliteValue[],
): Promise<readonly unknown[]> {
  // A stub of its own for each call: one that has failed does not come back.
  const answer = await namespace
    .get(id)
    .fetch(toUrl(name), { method: 'POST', body: encode(values) });
  const frame = await answer.arrayBuffer();
  if (answer.headers.get('content-type') !== CONTENT_TYPE) {
    throw new UsageError(
      'client_invalid',
      `The objects of this namespace are not WebhookDeliveries. In wrangler.jsonc, it takes ${CONFIG}`,
    );
  }
  const data = decode(frame);
  if (answer.ok && Array.isArray(data)) return data;
  const { error } = data as { error?: unknown };
  // An object of the version before keeps no proof. It takes the delivery without.
  if (error === OTHER_VERSION && name === 'claimProved') {
    return ask(namespace, id, 'claim', values.slice(1));
  }
  throw new WebhookError('store_unavailable', `The Durable Object could not do it: ${error}`);
}
