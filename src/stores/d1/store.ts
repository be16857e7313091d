import { toBase64 } from '../../runtime/base64.js';
import { isBytes } from '../../runtime/bytes.js';
import { forward, type ReadFilter, withContract } from '../contract.js';
import { listInPages } from '../durable-object/pages.js';
import type { SqliteValue } from '../sqlite/database.js';
import { sqliteSchema } from '../sqlite/schema.js';
import { StatementStore } from '../sqlite/statement-store.js';
import { STATEMENTS, type StatementName } from '../sqlite/statements.js';
import type { IdempotencyStore, StoredDelivery } from '../store.js';
import { checkD1, checkTables, type D1Client, withTables } from './database.js';

/**
 * Remembers deliveries in a D1 database: durable, for all isolates of a Worker. The store creates its tables if
 * they are missing, or uses those of {@link d1Schema}.
 *
 * The store purges by itself, together with a completion, so its `purge` does nothing and returns 0.
 *
 * A row holds 2 MB, and bodies are base64, so a body of more than about 1.5 MB does not fit: the delivery is
 * answered 503. The receiver's `limit` is 1 MiB unless you raise it.
 *
 * @throws {UsageError} `client_invalid` if the argument is not a D1 database. The verbs reject with the errors of
 *   D1.
 *
 * @example
 * export default toWorker((env: Env) =>
 *   createReceiver({ secret: env.WEBHOOK_SECRET, store: d1Store(env.DB) }),
 * );
 */
export function d1Store(database: D1Client): IdempotencyStore {
  checkD1(database, 'd1Store');
  // The store purges by itself. With the receiver's purging, it would purge twice.
  return forward(withContract(new D1Store(database)), { purge: async () => 0 });
}

/**
 * Returns the SQL of the tables of {@link d1Store} and {@link d1Ledger}, for `wrangler d1 migrations`. It can be
 * applied repeatedly. Without it, the store and the ledger create missing tables themselves.
 *
 * @example
 * // node print-schema.js > migrations/0001_webhooks.sql
 * console.log(d1Schema());
 */
export function d1Schema(): string {
  return sqliteSchema();
}

/** The shortest time between two purges, and the most rows of a purge. */
const PURGE_MS = 60_000;
const PURGE_LIMIT = 500;

/** @internal */
export class D1Store extends StatementStore {
  /** @param purgeMs - The shortest time between two purges. */
  constructor(database: D1Client, purgeMs = PURGE_MS) {
    let purgedAt = Number.NEGATIVE_INFINITY;
    let isChecked = false;
    super({ durable: true, description: 'D1' }, (name, values) => {
      const now = Date.now();
      // Purge together with a completion: a Worker may end when it answers, and cuts off work that is not awaited.
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

// Base64, because D1 sends bytes as JSON numbers, which takes six times as long.
function toD1(value: SqliteValue): Exclude<SqliteValue, Uint8Array> {
  return isBytes(value) ? toBase64(value) : value;
}
