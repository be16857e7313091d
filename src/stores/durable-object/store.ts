import { UsageError, WebhookError } from '../../errors/errors.js';
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
import { CONTENT_TYPE, decode, encode, OTHER_VERSION, toUrl } from './frames.js';
import { checkBinding } from './namespace.js';
import { listInPages } from './pages.js';
import { MAX_BODY_BYTES } from './tables.js';

/** The part of Cloudflare's `DurableObjectNamespace` that this package uses. */
export interface DeliveriesNamespace {
  idFromName(name: string): unknown;
  get(id: unknown): {
    fetch(
      url: string,
      // `Uint8Array` takes no argument before TypeScript 5.7.
      init: { method: string; body: Uint8Array & { readonly buffer: ArrayBuffer } },
    ): Promise<{
      readonly headers: { get(name: string): string | null };
      readonly ok: boolean;
      arrayBuffer(): Promise<ArrayBuffer>;
    }>;
  };
}

/** The options of {@link durableObjectStore}. */
export interface DurableObjectStoreOptions {
  /**
   * The number of objects that share the deliveries. One object takes some hundred deliveries per second. If you
   * change the number, the store no longer finds earlier deliveries, and processes them again if they come again.
   * Default 16.
   */
  readonly shards?: number;
}

const MAX_SHARDS = 256;

/**
 * Remembers deliveries in Durable Objects of the class {@link WebhookDeliveries}: durable, for all isolates of a
 * Worker, wherever they run.
 *
 * The objects purge by themselves, so the store's `purge` does nothing and returns 0. A row holds 2 MB, so the
 * receiver's `limit` must not be above 1,900,000 bytes. The default of 1 MiB fits.
 *
 * @throws {UsageError} `client_invalid` if the argument is not such a namespace, or `option_invalid`. The verbs
 *   reject with the errors of the runtime, or with `store_unavailable` for an error of an object.
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
  /** The stores of the shards, in the order of their keys. */
  readonly #shards: readonly StatementStore[];

  constructor(namespace: DeliveriesNamespace, count: number) {
    const description = `Durable Objects (${count} shard${count === 1 ? '' : 's'})`;
    const shards = Array.from({ length: count }, (_, shard) => {
      const id = namespace.idFromName(`${shard} of ${count}`);
      const run: RunStatement = (name, values) => ask(namespace, id, name, values);
      return { run, store: new StatementStore({ durable: true, description }, run) };
    });
    super(
      { durable: true, description, maxBodyBytes: MAX_BODY_BYTES },
      async (name, values, { key = '' } = {}) => {
        const shard = shards[indexOf(key, count)];
        return shard ? shard.run(name, values) : [];
      },
    );
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

/** Returns the index of the shard that holds a key. */
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
  // A new stub for each call, because a stub that has failed does not recover.
  const answer = await namespace
    .get(id)
    .fetch(toUrl(name), { method: 'POST', body: encode(values) });
  const frame = await answer.arrayBuffer();
  if (answer.headers.get('content-type') !== CONTENT_TYPE) {
    throw new UsageError(
      'client_invalid',
      `The objects of this namespace are not WebhookDeliveries. Configure them in wrangler.jsonc: ${CONFIG}`,
    );
  }
  const data = decode(frame);
  if (answer.ok && Array.isArray(data)) return data;
  const { error } = data as { error?: unknown };
  // An object of the previous version keeps no proof, so claim the delivery without it.
  if (error === OTHER_VERSION && name === 'claimProved') {
    return ask(namespace, id, 'claim', values.slice(1));
  }
  throw new WebhookError('store_unavailable', `The Durable Object reports an error: ${error}`);
}
