import { isBytes } from '../../request/bytes.js';
import { toBase64 } from '../base64.js';
import { type ReadFilter, withContract } from '../contract.js';
import { listInPages } from '../durable-object/pages.js';
import { forward } from '../forward.js';
import type { SqliteValue } from '../sqlite/database.js';
import { sqliteSchema } from '../sqlite/schema.js';
import { StatementStore } from '../sqlite/statement-store.js';
import { STATEMENTS, type StatementName } from '../sqlite/statements.js';
import type { IdempotencyStore, StoredDelivery } from '../store.js';
import { checkD1, checkTables, type D1Client, withTables } from './database.js';

/**
 * Remembers deliveries in a D1 database: durable, for all the isolates of a Worker. It makes its tables
 * where they are missing, or finds those of {@link d1Schema}.
 *
 * It purges by itself, with a completion, so that its `purge` has nothing to do and gives 0.
 *
 * A body larger than about 1.5 MB does not fit into the 2 MB of a row, in which it is base64: it is
 * refused, and answered 503. The receiver's `limit` is 1 MiB unless you raise it.
 *
 * @throws {UsageError} `client_invalid` where it is given something else. Its verbs reject with the errors
 *   of D1.
 *
 * @example
 * export default toWorker((env: Env) =>
 *   createReceiver({ secret: env.WEBHOOK_SECRET, store: d1Store(env.DB) }),
 * );
 */
export function d1Store(database: D1Client): IdempotencyStore {
  checkD1(database, 'd1Store');
  // It purges by itself: what it did beside the receiver's purging would be done twice.
  return forward(withContract(new D1Store(database)), { purge: async () => 0 });
}

/**
 * The tables of {@link d1Store} and {@link d1Ledger}, for a file of `wrangler d1 migrations`. It may be
 * applied again. Both make what is missing without it.
 *
 * @example
 * // node print-schema.js > migrations/0001_webhooks.sql
 * console.log(d1Schema());
 */
export function d1Schema(): string {
  return sqliteSchema();
}

/** How often a store purges at most, and how much of it in one go. */
const PURGE_MS = 60_000;
const PURGE_LIMIT = 500;

/** @internal */
export class D1Store extends StatementStore {
  /** @param purgeMs - How often it purges at most. */
  constructor(database: D1Client, purgeMs = PURGE_MS) {
    let purgedAt = Number.NEGATIVE_INFINITY;
    let isChecked = false;
    super({ durable: true, description: 'D1' }, (name, values) => {
      const now = Date.now();
      // Beside a completion, because a Worker may end at its answer: what is not waited for is cut off.
      const purges = name === 'complete' && now - purgedAt > purgeMs;
      if (purges) purgedAt = now;
      return withTables(database, async () => {
        if (!isChecked) await checkTables(database);
        isChecked = true;
        if (!purges) return run(database, name, values);
        const { rows, isBehind } = await runAndPurge(database, name, values);
        if (isBehind) purgedAt = Number.NEGATIVE_INFINITY;
        return rows;
      });
    });
  }

  override list(filter: ReadFilter): Promise<StoredDelivery[]> {
    return listInPages((page) => super.list(page), filter);
  }
}

async function run(
  database: D1Client,
  name: StatementName,
  values: readonly SqliteValue[],
): Promise<readonly unknown[]> {
  const { results } = await bind(database, name, values).all();
  return results;
}

async function runAndPurge(
  database: D1Client,
  name: StatementName,
  values: readonly SqliteValue[],
): Promise<{ readonly rows: readonly unknown[]; readonly isBehind: boolean }> {
  const [first, ...purged] = await database.batch([
    bind(database, name, values),
    bind(database, 'abandon', [PURGE_LIMIT]),
    bind(database, 'forget', [PURGE_LIMIT]),
  ]);
  const isBehind = purged.some(({ results }) => results.length >= PURGE_LIMIT);
  return { rows: first?.results ?? [], isBehind };
}

function bind(database: D1Client, name: StatementName, values: readonly SqliteValue[]) {
  return database.prepare(STATEMENTS[name]).bind(...values.map(toD1));
}

// D1 carries bytes as JSON numbers, which takes six times as long.
function toD1(value: SqliteValue): Exclude<SqliteValue, Uint8Array> {
  return isBytes(value) ? toBase64(value) : value;
}
