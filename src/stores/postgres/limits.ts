import { type Limits, optionOf } from '../size-limits.js';

const PG = 'new pg.Pool({ query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true }).';
const POSTGRES_JS =
  'postgres(url, { connect_timeout: 5, max_pipeline: 1, fetch_types: false, idle_timeout: 2, socket }), ' +
  'where `socket` makes connections that end when they are silent, as docs/stores.md shows.';

/** The part of a `pg` pool or client that is used. */
export interface Pg {
  query(config: {
    text: string;
    values?: (string | null)[];
    name?: string;
    query_timeout?: number;
  }): Promise<{ readonly rows: unknown[] }>;
}

/** Returns the time limits of a client; `undefined` for a PGlite or a wrapper, whose limits are unknown. */
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
    // A client has only one connection: a limit ends its calls, but only a pool opens another connection.
    const isLimited = Boolean(optionOf(client, 'connectionParameters', 'query_timeout'));
    return { line: PG, missing: isLimited ? [] : ['query_timeout, and no second connection'] };
  }
  if (optionOf(client, 'options', 'connect_timeout') !== undefined) {
    const isLimited = typeof optionOf(client, 'options', 'socket') === 'function';
    return { line: POSTGRES_JS, missing: isLimited ? [] : ['limit for an answer'] };
  }
  return undefined;
}

/** Returns the most connections that a client opens; `Infinity` if that is unknown. */
export function connectionsOf(client: unknown): number {
  if (isPgClient(client)) return 1;
  return Number(optionOf(client, 'options', 'max')) || Number.POSITIVE_INFINITY;
}

/** Returns whether a client is a pool of `pg`, or of a driver with the same interface. */
export function isPgPool(client: unknown): client is Pg {
  return (
    typeof optionOf(client, 'totalCount') === 'number' &&
    typeof optionOf(client, 'options') === 'object'
  );
}

/** Returns whether a client is a single client of `pg`, from a pool or not. */
export function isPgClient(client: unknown): client is Pg {
  return typeof optionOf(client, 'connectionParameters') === 'object';
}

/** Returns the `query_timeout` of a `pg` pool, from its options, its connection string, or `pg.defaults`. */
export function queryTimeoutOfPool(pool: Pg): unknown {
  const options = optionOf(pool, 'options');
  const Client = optionOf(pool, 'Client');
  const own = optionOf(options, 'query_timeout');
  if (own || typeof Client !== 'function') return own;
  try {
    // Only a client knows the defaults. This client has no connection, and never gets one.
    const client: unknown = Reflect.construct(Client, [{ ...Object(options), connection: {} }]);
    return optionOf(client, 'connectionParameters', 'query_timeout');
  } catch {
    return undefined;
  }
}
