import { type Limits, optionOf } from '../limits.js';

const PG = 'new pg.Pool({ query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true }).';
const POSTGRES_JS =
  'postgres(url, { connect_timeout: 5, max_pipeline: 1, fetch_types: false, idle_timeout: 2, socket }), ' +
  'where `socket` makes connections that end when they are silent: docs/stores.md has it.';

/** What is used of a pool or a client of `pg`. */
export interface Pg {
  query(config: {
    text: string;
    values?: (string | null)[];
    name?: string;
    query_timeout?: number;
  }): Promise<{ readonly rows: unknown[] }>;
}

/** The limits of a client that connects. Nothing of a PGlite or a wrapper, which say nothing of theirs. */
export function limitsOf(client: unknown): Limits | undefined {
  if (isPgPool(client)) {
    const missing = [
      ...(queryTimeoutOfPool(client) ? [] : ['query_timeout']),
      ...(optionOf(client, 'options', 'connectionTimeoutMillis')
        ? []
        : ['connectionTimeoutMillis']),
    ];
    return { line: PG, missing };
  }
  if (isPgClient(client)) {
    // It has one connection in its life: a limit ends its calls, and a pool opens another one.
    const isLimited = Boolean(optionOf(client, 'connectionParameters', 'query_timeout'));
    return { line: PG, missing: isLimited ? [] : ['query_timeout, and no second connection'] };
  }
  if (optionOf(client, 'options', 'connect_timeout') !== undefined) {
    const isLimited = typeof optionOf(client, 'options', 'socket') === 'function';
    return { line: POSTGRES_JS, missing: isLimited ? [] : ['limit for an answer'] };
  }
  return undefined;
}

/** A pool of `pg`, or what is made after it. */
export function isPgPool(client: unknown): client is Pg {
  return (
    typeof optionOf(client, 'totalCount') === 'number' &&
    typeof optionOf(client, 'options') === 'object'
  );
}

/** A client of `pg`, on a connection of its own or out of a pool. */
export function isPgClient(client: unknown): client is Pg {
  return typeof optionOf(client, 'connectionParameters') === 'object';
}

/** What limits each query of a pool of `pg`: its options, its connection string, or `pg.defaults`. */
export function queryTimeoutOfPool(pool: Pg): unknown {
  const options = optionOf(pool, 'options');
  const Client = optionOf(pool, 'Client');
  const own = optionOf(options, 'query_timeout');
  if (own || typeof Client !== 'function') return own;
  try {
    // Only a client knows the defaults. This one has no connection, and is never connected.
    const client: unknown = Reflect.construct(Client, [{ ...Object(options), connection: {} }]);
    return optionOf(client, 'connectionParameters', 'query_timeout');
  } catch {
    return undefined;
  }
}
