import { toLimit } from '../contract.js';
import type { SqliteValue } from '../sqlite/database.js';
import { STATEMENTS, type StatementName } from '../sqlite/statements.js';
import { CONTENT_TYPE, decode, encode, OTHER_VERSION, toVerb } from './frames.js';
import { type SqlStorage, Tables } from './tables.js';
import { type Alarms, WakeUp } from './wake-up.js';

/** The part of Cloudflare's `DurableObjectState` that this package uses. */
export interface DeliveriesState {
  readonly storage: Alarms & SqlStorage;
}

/** The most rows of a purge, so that no claim waits long for it. */
const PURGE_LIMIT = 500;

const NEXT_DUE = `SELECT purge_at FROM webhook_delivery
WHERE purge_at IS NOT NULL AND (state IN ('done', 'dead') OR body IS NOT NULL) ORDER BY purge_at LIMIT 1`;

/**
 * The Durable Object of {@link durableObjectStore}. Each object keeps a part of the deliveries in its own SQLite.
 * Export the class from the Worker, and name it in `wrangler.jsonc`. The object's alarm purges old deliveries.
 *
 * @example
 * export { WebhookDeliveries } from 'storefront-webhooks/cloudflare';
 *
 * // wrangler.jsonc
 * // "durable_objects": { "bindings": [{ "name": "DELIVERIES", "class_name": "WebhookDeliveries" }] },
 * // "migrations": [{ "tag": "v1", "new_sqlite_classes": ["WebhookDeliveries"] }]
 */
export class WebhookDeliveries {
  /** The brand by which the types of Workers recognize the class of a Durable Object. */
  declare readonly __DURABLE_OBJECT_BRAND: never;
  readonly #storage: DeliveriesState['storage'];
  readonly #tables: Tables;
  readonly #wakeUp: WakeUp;

  constructor({ storage }: DeliveriesState, _env?: unknown) {
    this.#storage = storage;
    this.#tables = new Tables(storage);
    this.#wakeUp = new WakeUp(storage);
  }

  /** Answers the requests of the store. Do not call it yourself. */
  async fetch(request: {
    readonly url: string;
    arrayBuffer(): Promise<ArrayBuffer>;
  }): Promise<Response> {
    try {
      const verb = toVerb(request.url);
      const values = decode(await request.arrayBuffer()) as SqliteValue[];
      return answer(await this.#do(verb, values), 200);
    } catch (error) {
      // SQLite's messages name tables and columns, but never quote their values.
      return answer({ error: error instanceof Error ? error.message : 'it failed' }, 500);
    }
  }

  /** Purges old deliveries in batches, and sets the alarm for the next ones. */
  async alarm(): Promise<void> {
    // First, so that the next delivery sets the alarm even if purging fails for good.
    this.#wakeUp.ring();
    if (this.#purge(PURGE_LIMIT) >= PURGE_LIMIT) this.#wakeUp.hurry();
    const [next] = this.#tables.exec(NEXT_DUE);
    if (next) await this.#wakeUp.by(Number(next.purge_at));
  }

  async #do(verb: string, values: readonly SqliteValue[]): Promise<unknown> {
    if (verb === 'purge') return this.#purge(toLimit(Number(values[0])));
    if (!isStatement(verb)) throw new Error(OTHER_VERSION);
    const rows = this.#tables.exec(STATEMENTS[verb], ...values);
    // The object keeps the delivery until this time, and then wakes up and purges it.
    const due = rows[0]?.purge_at;
    if (typeof due === 'number') await this.#wakeUp.by(due);
    return rows;
  }

  #purge(limit: number): number {
    return this.#storage.transactionSync(() => {
      const abandoned = this.#tables.exec(STATEMENTS.abandon, limit).length;
      return abandoned + this.#tables.exec(STATEMENTS.forget, limit - abandoned).length;
    });
  }
}

function isStatement(verb: string): verb is StatementName {
  return Object.hasOwn(STATEMENTS, verb);
}

function answer(data: unknown, status: number): Response {
  return new Response(encode(data), { status, headers: { 'content-type': CONTENT_TYPE } });
}
