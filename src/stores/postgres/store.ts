import { VERSION } from '../../report/version.js';
import type { Json } from '../../schemas/json.js';
import { Batch } from '../batch.js';
import { type ReadFilter, type StoreVerbs, withContract } from '../contract.js';
import { adviceOf, warnOfLimits } from '../limits.js';
import {
  ABANDONED,
  type Claim,
  type Claimable,
  COUNT_LIMIT,
  type CountFilter,
  type FailTerms,
  type IdempotencyStore,
  type LeaseTerms,
  type StoredDelivery,
} from '../store.js';
import { type Asked, byKey, fromRow, toClaim, toColumns } from './claims.js';
import {
  type PostgresClient,
  type Query,
  type Row,
  sqlState,
  toQuery,
  type Value,
} from './client.js';
import { storable } from './encoding.js';
import { limitsOf } from './limits.js';
import { retrying } from './retrying.js';
import { Schema } from './schema.js';
import * as sql from './statements.js';

/** Few statements at once leave the pool's connections to others, and make batches larger. */
const LIMITS = {
  maxRunning: 4,
  maxItems: 256,
  maxSize: 4 * 1024 * 1024,
  // A text that this database's encoding lacks, or a trigger of somebody's.
  isFaultOfOne: (error: unknown) => /^(?:22|23|P0)/.test(sqlState(error) ?? ''),
};
/** The size of a claim beside its body, roughly. */
const CLAIM_SIZE = 512;

/** With the version: what another one has prepared on a connection of a pooler is not taken for its own. */
const PREFIX = `storefront-webhooks ${VERSION} `;

/** What {@link postgresStore} takes beside its client. */
export interface PostgresStoreOptions {
  /**
   * Whether the server keeps the statements of each delivery prepared, by their names: it would parse and plan
   * them every time. `false` behind a pooler that gives each statement another connection, such as PgBouncer in
   * transaction mode before 1.21, or without its `max_prepared_statements`. postgres.js has this option
   * itself, and PGlite prepares nothing. Default: true, until such a pooler refuses a statement.
   */
  readonly prepare?: boolean;
}

interface Completion {
  readonly key: string;
  readonly fence: number;
  readonly keepMs: number;
}

/**
 * Remembers deliveries in PostgreSQL, for any number of processes. It creates its tables at first use,
 * or finds those of {@link postgresSchema}. Claims that come at once travel in one statement.
 *
 * The server keeps the statements of each delivery prepared. Behind a pooler that cannot, such as PgBouncer in
 * transaction mode before 1.21, pass `{ prepare: false }`.
 *
 * @param client - A pool of its own rather than a single connection, which may be lost. Never a
 *   connection on which transactions run, which would take back what the store has written; and where
 *   handlers keep all of a pool's connections, the store cannot prolong their leases. Of a pool of `pg`, a
 *   query of the store takes 5 s at most, unless the pool has a `query_timeout`, and then its connection is
 *   thrown away. A client without limits is told of on stderr, with what to set.
 * @throws {UsageError} `client_invalid` where it is given something else. Its verbs reject with the
 *   errors of the client, and with `schema_missing` where the tables cannot be created.
 *
 * @example
 * import pg from 'pg';
 *
 * const pool = new pg.Pool({ query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true });
 * // Without it, a connection that the server closes ends the process.
 * pool.on('error', console.error);
 * createReceiver({ secret, store: postgresStore(pool) });
 */
export function postgresStore(
  client: PostgresClient,
  { prepare = true }: PostgresStoreOptions = {},
): IdempotencyStore {
  const query = retrying(toQuery(client));
  const limits = limitsOf(client);
  warnOfLimits('PostgreSQL', limits);
  return withContract(new PostgresStore(query, prepare, adviceOf(limits)));
}

class PostgresStore implements StoreVerbs {
  readonly durable = true;
  readonly description = 'PostgreSQL';
  readonly whenSilent: string | undefined;
  readonly #query: Query;
  #prepares: boolean;
  readonly #schema: Schema;
  readonly #claims = new Batch<Asked, Claim>((asked) => this.#claim(asked), {
    ...LIMITS,
    sizeOf: ({ delivery }) => CLAIM_SIZE + (delivery.body?.length ?? 0),
    keyOf: ({ delivery }) => delivery.key,
  });
  readonly #completions = new Batch<Completion, boolean>(
    (completions) => this.#complete(completions),
    { ...LIMITS, sizeOf: () => 0, keyOf: ({ key }) => key },
  );

  constructor(query: Query, prepares: boolean, whenSilent: string | undefined) {
    this.whenSilent = whenSilent;
    this.#prepares = prepares;
    this.#query = query;
    this.#schema = new Schema(query);
  }

  claim(delivery: Claimable, lease: LeaseTerms): Promise<Claim> {
    return this.#claims.add({ delivery, lease });
  }

  complete(key: string, fence: number, keepMs: number): Promise<boolean> {
    return this.#completions.add({ key, fence, keepMs });
  }

  async renew(key: string, fence: number, leaseMs: number): Promise<boolean> {
    return this.#holds(sql.RENEW, [key, `${fence}`, `${leaseMs}`], 'renew');
  }

  async completeStep(key: string, fence: number, step: string, output: Json): Promise<boolean> {
    const texts = [JSON.stringify(step), JSON.stringify(output)];
    return this.#holds(sql.COMPLETE_STEP, [key, `${fence}`, ...texts], 'complete step');
  }

  async fail(key: string, fence: number, terms: FailTerms): Promise<'retry' | 'dead' | 'lost'> {
    const error = storable(terms.error);
    const [row] = await this.#run(sql.FAIL, [key, `${fence}`, `${terms.permanent}`, error], 'fail');
    if (!row) return 'lost';
    return row.text('state') === 'dead' ? 'dead' : 'retry';
  }

  async release(key: string, fence: number): Promise<boolean> {
    return this.#holds(sql.RELEASE, [key, `${fence}`], 'release');
  }

  async redrive(key: string): Promise<boolean> {
    return (await this.#run(sql.REDRIVE, [key])).length > 0;
  }

  async isDone(key: string): Promise<boolean> {
    return (await this.#run(sql.IS_DONE, [key])).length > 0;
  }

  async purge(limit: number): Promise<number> {
    const [row] = await this.#run(sql.PURGE, [`${limit}`, ABANDONED]);
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

  async #claim(asked: readonly Asked[]): Promise<Claim[]> {
    const claims = asked.map(toColumns);
    const [one, ...others] = claims;
    if (one && others.length === 0) {
      const { crashes: _, ...columns } = one;
      const [row] = await this.#run(sql.CLAIM_NEW, Object.values(columns), 'claim');
      if (row) return [{ state: 'acquired', fence: row.number('fence'), attempt: 1, steps: {} }];
    }
    const rows = byKey(await this.#run(sql.CLAIM, [JSON.stringify(claims)], 'claim all'));
    return asked.map(({ delivery, lease }) => toClaim(rows.get(delivery.key), lease.owner));
  }

  async #complete(completions: readonly Completion[]): Promise<boolean[]> {
    const [one, ...others] = completions;
    if (one && others.length === 0) {
      const { key, fence, keepMs } = one;
      return [await this.#holds(sql.COMPLETE, [key, `${fence}`, `${keepMs}`], 'complete')];
    }
    const values = completions.map(({ key, fence, keepMs }) => ({ key, fence, keep: `${keepMs}` }));
    const rows = byKey(await this.#run(sql.COMPLETE_ALL, [JSON.stringify(values)]));
    return completions.map(({ key }) => rows.has(key));
  }

  async #holds(text: string, values: Value[], name: string): Promise<boolean> {
    return (await this.#run(text, values, name)).length > 0;
  }

  /** @param name - Of what is run for each delivery: the others are planned anew, for tables as they are. */
  async #run(text: string, values: Value[], name?: string): Promise<readonly Row[]> {
    await this.#schema.ready();
    try {
      return await this.#query(text, values, this.#prepares && name ? PREFIX + name : undefined);
    } catch (error) {
      if (this.#prepares && name && isUnprepared(error)) {
        this.#prepares = false;
        return this.#run(text, values);
      }
      this.#schema.check(error);
      throw error;
    }
  }
}

function scopeOrNull(scope: string | undefined): Value {
  return scope === undefined ? null : storable(scope);
}

/** Behind a pooler, a statement is on another connection, or is on this one already. It was not run. */
function isUnprepared(error: unknown): boolean {
  return ['26000', '42P05'].includes(sqlState(error) ?? '');
}
