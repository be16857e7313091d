import { VERSION } from '../../errors/log.js';
import type { Json } from '../../schemas/values.js';
import { Batch } from '../batch.js';
import { type ReadFilter, type StoreVerbs, withContract } from '../contract.js';
import { adviceOf, warnOfLimits } from '../size-limits.js';
import {
  type Claim,
  type Claimable,
  COUNT_LIMIT,
  type CountFilter,
  type FailTerms,
  type IdempotencyStore,
  type LeaseTerms,
  type StoredDelivery,
} from '../store.js';
import { Claims } from './claim-batches.js';
import { byKey, fromRow } from './claims.js';
import {
  isUnprepared,
  type PostgresClient,
  type Query,
  type Row,
  refuseWrappers,
  sqlState,
  toQuery,
  type Value,
} from './client.js';
import { leavingStandby } from './demoted.js';
import { LeaseWrites } from './lease-writes.js';
import { connectionsOf, limitsOf } from './limits.js';
import { COLLIDED, retrying } from './retry.js';
import { Schema } from './schema.js';
import { type Sessions, toSessions, WAIT_MS } from './sessions.js';
import * as sql from './statements.js';
import { storable } from './storable.js';
import { Transactions } from './transact.js';
import type { TransactionSource } from './transaction.js';

/** Few statements at once leave connections of the pool to other work, and make batches larger. */
const MAX_RUNNING = 4;
const LIMITS = {
  maxItems: 256,
  maxSize: 4 * 1024 * 1024,
  // A text that the database's encoding cannot hold, or a trigger of the user's.
  isFaultOfOne: (error: unknown) => /^(?:22|23|P0)/.test(sqlState(error) ?? ''),
};

/** Contains the version, so that a pooler's connection never runs a statement that another version prepared. */
const PREFIX = `storefront-webhooks ${VERSION} `;

/** The options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /**
   * Whether the server keeps the statements of each delivery prepared, by name, so that it need not parse and plan
   * them every time. Pass `false` behind a pooler that may run each statement on another connection, such as
   * PgBouncer in transaction mode before 1.21, or without its `max_prepared_statements`. With postgres.js, this
   * option has no effect: pass `prepare: false` to `postgres()` instead. PGlite prepares nothing. Default: true,
   * until such a pooler rejects a statement.
   */
  readonly prepare?: boolean;
}

/**
 * Remembers deliveries in PostgreSQL, for any number of processes. The store creates its tables at first use, or
 * uses those of {@link postgresSchema}. Simultaneous claims share one statement.
 *
 * The server keeps the statements of each delivery prepared. Behind a pooler that does not support that, such as
 * PgBouncer in transaction mode before 1.21, pass `{ prepare: false }`, with postgres.js to `postgres()`.
 *
 * @param client - Use a separate pool: a single connection can be lost. Never pass a connection on which
 *   transactions run: a rollback would undo the store's writes. If handlers occupy all connections of a pool, the
 *   store cannot renew their leases. With a pool of `pg`, a query of the store may take as long as the pool's
 *   `query_timeout`, or 5 s if it has none; after a time-out, the pool discards the connection. If the client has
 *   no limits, a line on stderr says which to set.
 * @throws {UsageError} `client_invalid` if the client is of another kind. The verbs reject with the errors of the
 *   client, and with `schema_missing` if the tables cannot be created.
 *
 * @example
 * import pg from 'pg';
 *
 * const pool = new pg.Pool({ query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true });
 * // Without it, a connection that the server closes ends the process.
 * pool.on('error', (error) => console.error(error.message));
 * createReceiver({ secret, store: postgresStore(pool) });
 */
export function postgresStore<Tx>(
  client: PostgresClient & TransactionSource<Tx>,
  options?: PostgresStoreOptions,
): IdempotencyStore<Tx>;
export function postgresStore(
  client: PostgresClient,
  options?: PostgresStoreOptions,
): IdempotencyStore;
export function postgresStore<Tx>(
  client: PostgresClient,
  { prepare = true }: PostgresStoreOptions = {},
): IdempotencyStore<Tx> {
  refuseWrappers(client, 'postgresStore');
  const limits = limitsOf(client);
  warnOfLimits('PostgreSQL', limits);
  const sessions = toSessions<Tx>(client, connectionsOf(client), prepare);
  const verbs = new PostgresStore(client, prepare, adviceOf(limits), sessions);
  if (!sessions) return withContract(verbs);
  const transactions = new Transactions(
    sessions,
    (key) => verbs.isDone(key),
    () => verbs.expectLocks(),
  );
  return { ...withContract(verbs), transactions };
}

class PostgresStore implements StoreVerbs {
  readonly durable = true;
  readonly description = 'PostgreSQL';
  readonly whenSilent: string | undefined;
  readonly #query: Query;
  readonly #queryEffects: Query;
  #prepares: boolean;
  readonly #sessions: Sessions<unknown> | undefined;
  readonly #schema: Schema;
  readonly #claims: Claims;
  readonly #writes: LeaseWrites;
  /** Recovery asks for the keys of a page of the log at once: one statement each would occupy the pool. */
  readonly #done: Batch<string, boolean>;

  constructor(
    client: PostgresClient,
    prepares: boolean,
    whenSilent: string | undefined,
    sessions: Sessions<unknown> | undefined,
  ) {
    this.#sessions = sessions;
    const connections = connectionsOf(client);
    const run = (text: string, values: Value[], name: string, isEffect = false) =>
      this.#run(text, values, name, isEffect ? this.#queryEffects : this.#query);
    this.#claims = new Claims(run, {
      ...LIMITS,
      // Leaves one connection for running handlers.
      maxRunning: Math.min(MAX_RUNNING, Math.max(1, connections - 1)),
    });
    const limits = { ...LIMITS, maxRunning: Math.min(MAX_RUNNING, connections) };
    this.#writes = new LeaseWrites((text, values, name) => this.#run(text, values, name), limits);
    this.#done = new Batch<string, boolean>((keys) => this.#areDone(keys), {
      ...limits,
      sizeOf: (key) => key.length,
    });
    this.whenSilent = whenSilent;
    this.#prepares = prepares;
    const query = leavingStandby(client, toQuery(client));
    this.#query = retrying(query);
    this.#queryEffects = retrying(query, COLLIDED);
    this.#schema = new Schema(query, client);
  }

  expectLocks(): void {
    this.#claims.expectLocks();
  }

  claim(delivery: Claimable, lease: LeaseTerms): Promise<Claim> {
    const waits = lease.isTransaction && !this.#sessions?.keep(delivery.key);
    return this.#claims.add({ delivery, lease, waits });
  }

  async complete(key: string, fence: number, keepMs: number): Promise<boolean> {
    return (
      (await this.#writes.complete({ key, fence: `${fence}`, keep: `${keepMs}` })) !== undefined
    );
  }

  async renew(key: string, fence: number, leaseMs: number): Promise<boolean> {
    // From now on, the lock of the transaction holds the delivery, and ends with its process.
    const mostMs = this.#sessions?.hadToWait(key) ? WAIT_MS : leaseMs;
    const lease = `${Math.min(leaseMs, mostMs)}`;
    return (await this.#writes.renew({ key, fence: `${fence}`, lease })) !== undefined;
  }

  async completeStep(key: string, fence: number, name: string, value: Json): Promise<boolean> {
    const texts = { step: JSON.stringify(name), output: JSON.stringify(value) };
    return (await this.#writes.completeStep({ key, fence: `${fence}`, ...texts })) !== undefined;
  }

  async fail(key: string, fence: number, terms: FailTerms): Promise<'retry' | 'dead' | 'lost'> {
    const values = { permanent: `${terms.permanent}`, message: storable(terms.error) };
    const state = await this.#writes.fail({ key, fence: `${fence}`, ...values });
    if (state === undefined) return 'lost';
    return state === 'dead' ? 'dead' : 'retry';
  }

  async release(key: string, fence: number): Promise<boolean> {
    return (await this.#writes.release({ key, fence: `${fence}` })) !== undefined;
  }

  async redrive(key: string): Promise<boolean> {
    return (await this.#run(sql.REDRIVE, [key])).length > 0;
  }

  isDone(key: string): Promise<boolean> {
    return this.#done.add(key);
  }

  async #areDone(keys: readonly string[]): Promise<boolean[]> {
    const done = byKey(await this.#run(sql.FIND_DONE, [JSON.stringify(keys)]));
    return keys.map((key) => done.has(key));
  }

  async purge(limit: number): Promise<number> {
    const [row] = await this.#run(sql.PURGE, [`${limit}`]);
    return row?.number('number') ?? 0;
  }

  async list({ state, scope, after, limit }: ReadFilter): Promise<StoredDelivery[]> {
    const rows = await this.#run(sql.LIST[state], [after, `${limit}`, scopeOrNull(scope)]);
    return rows.map((row) => fromRow(row, state));
  }

  async count({ state, scope }: CountFilter): Promise<number> {
    const [row] = await this.#run(sql.COUNT[state], [`${COUNT_LIMIT}`, scopeOrNull(scope)]);
    return row?.number('number') ?? 0;
  }

  /**
   * @param name - Prepares the statement under this name, if it runs for each delivery. PostgreSQL plans any other
   * statement each time, for the current data.
   */
  async #run(
    text: string,
    values: Value[],
    name?: string,
    query = this.#query,
  ): Promise<readonly Row[]> {
    await this.#schema.ready();
    try {
      return await query(text, values, this.#prepares && name ? PREFIX + name : undefined);
    } catch (error) {
      if (this.#prepares && name && isUnprepared(error)) {
        this.#prepares = false;
        return this.#run(text, values, undefined, query);
      }
      this.#schema.check(error);
      throw error;
    }
  }
}

function scopeOrNull(scope: string | undefined): Value {
  return scope === undefined ? null : storable(scope);
}
