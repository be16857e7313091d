import { toLimit } from '../contract.js';
import type { SqliteValue } from '../sqlite/database.js';
import { FIND_LAYOUT, isThereByNow, remedyFor, updatesFrom } from '../sqlite/schema.js';
import { STATEMENTS, type StatementName } from '../sqlite/statements.js';
import { CONTENT_TYPE, decode, encode, OTHER_VERSION, toVerb } from './frames.js';
import { type Alarms, WakeUp } from './wake-up.js';

/** The part of Cloudflare's `DurableObjectState` that this package uses. */
export interface DeliveriesState {
  readonly storage: Alarms & {
    readonly sql: {
      exec(query: string, ...values: SqliteValue[]): { toArray(): Record<string, unknown>[] };
    };
    transactionSync<Result>(work: () => Result): Result;
  };
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
  readonly #wakeUp: WakeUp;
  #isReady = false;

  constructor({ storage }: DeliveriesState, _env?: unknown) {
    this.#storage = storage;
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
    const [next] = this.#exec(NEXT_DUE);
    if (next) await this.#wakeUp.by(Number(next.purge_at));
  }

  async #do(verb: string, values: readonly SqliteValue[]): Promise<unknown> {
    if (verb === 'purge') return this.#purge(toLimit(Number(values[0])));
    if (!isStatement(verb)) throw new Error(OTHER_VERSION);
    const rows = this.#exec(STATEMENTS[verb], ...values);
    // The object keeps the delivery until this time, and then wakes up and purges it.
    const due = rows[0]?.purge_at;
    if (typeof due === 'number') await this.#wakeUp.by(due);
    return rows;
  }

  #purge(limit: number): number {
    return this.#storage.transactionSync(() => {
      const abandoned = this.#exec(STATEMENTS.abandon, limit).length;
      return abandoned + this.#exec(STATEMENTS.forget, limit - abandoned).length;
    });
  }

  #exec(query: string, ...values: SqliteValue[]): Record<string, unknown>[] {
    try {
      if (!this.#isReady) {
        const [row] = this.#sql(FIND_LAYOUT);
        this.#update(updatesFrom(row, 'this Durable Object'));
      }
      return this.#sql(query, ...values);
    } catch (error) {
      const remedy = remedyFor(error);
      if (remedy.length === 0) throw error;
      this.#update(remedy);
      return this.#sql(query, ...values);
    }
  }

  #update(statements: readonly string[]): void {
    for (const statement of statements) {
      try {
        this.#sql(statement);
      } catch (error) {
        if (!isThereByNow(error)) throw error;
      }
    }
    this.#isReady = true;
  }

  /** Runs a statement and reads all of its rows, because an open cursor breaks the object. */
  #sql(query: string, ...values: SqliteValue[]): Record<string, unknown>[] {
    return this.#storage.sql.exec(query, ...values).toArray();
  }
}

function isStatement(verb: string): verb is StatementName {
  return Object.hasOwn(STATEMENTS, verb);
}

function answer(data: unknown, status: number): Response {
  return new Response(encode(data), { status, headers: { 'content-type': CONTENT_TYPE } });
}
