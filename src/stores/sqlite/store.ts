import { UsageError } from '../../errors.js';
import type { Json } from '../../schemas/json.js';
import {
  type Claim,
  type Claimable,
  COUNT_LIMIT,
  type FailTerms,
  type IdempotencyStore,
  type LeaseTerms,
  type ListFilter,
  type StoredDelivery,
} from '../store.js';
import { Connection } from './connection.js';
import type { SqliteDatabase } from './database.js';

const MAX_ERROR = 2000;

/**
 * Remembers deliveries in a SQLite file: durable, for all the processes of one machine. Give it the
 * connection that you have open, of `node:sqlite`, `better-sqlite3` or `bun:sqlite`. It makes its tables
 * (see {@link sqliteSchema}), and sets the connection to `journal_mode=WAL`, `synchronous=FULL`, and a
 * `busy_timeout` of 1 s where there is none.
 *
 * SQLite has one writer at a time. So write transactions of yours in the same process, on whatever
 * connection, must not await anything between `BEGIN` and `COMMIT`: all other writes wait for them.
 *
 * @throws {UsageError} `client_invalid` where it is given something else.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite';
 *
 * const database = new DatabaseSync('webhooks.db');
 * createReceiver({ secret, store: sqliteStore(database) });
 */
export function sqliteStore(database: SqliteDatabase): IdempotencyStore {
  if (typeof database?.prepare !== 'function' || typeof database.exec !== 'function') {
    throw new UsageError(
      'client_invalid',
      'sqliteStore needs an open database, such as new DatabaseSync("webhooks.db") of node:sqlite.',
    );
  }
  return new SqliteStore(database);
}

class SqliteStore implements IdempotencyStore {
  /** What is in memory is gone with the process. */
  readonly durable: boolean;
  readonly #connection: Connection;

  constructor(database: SqliteDatabase) {
    const main = database
      .prepare(`SELECT file FROM pragma_database_list WHERE name = 'main'`)
      .get();
    this.durable = (main as { file: string | null }).file !== '';
    this.#connection = new Connection(database);
  }

  claim(delivery: Claimable, { owner, leaseMs, keepMs, maxCrashes }: LeaseTerms): Promise<Claim> {
    const { key, scope, id, event, receivedAt, body = null } = delivery;
    const terms = [owner, leaseMs, finite(keepMs), atMost(maxCrashes)];
    return this.#connection.run(({ claim }) =>
      toClaim(claim.get(key, scope, id, event, receivedAt, body, ...terms) as ClaimRow, owner),
    );
  }

  renew(key: string, fence: number, leaseMs: number): Promise<boolean> {
    return this.#connection.run(({ renew }) => touched(renew.get(leaseMs, key, fence)));
  }

  handlerDone(key: string, fence: number, handler: string, output: Json): Promise<boolean> {
    // As text, because null and objects have a meaning of their own in a patch.
    const patch = JSON.stringify({ [handler]: JSON.stringify(output) });
    return this.#connection.run(({ handlerDone }) => touched(handlerDone.get(patch, key, fence)));
  }

  complete(key: string, fence: number, keepMs: number): Promise<boolean> {
    return this.#connection.run(({ complete }) =>
      touched(complete.get(finite(keepMs), key, fence)),
    );
  }

  fail(key: string, fence: number, terms: FailTerms): Promise<'retry' | 'dead' | 'lost'> {
    const { delayMs, permanent, maxFailures } = terms;
    const values = [
      delayMs,
      terms.error.slice(0, MAX_ERROR),
      Number(permanent),
      atMost(maxFailures),
    ];
    return this.#connection.run(({ fail }) => {
      const row = fail.get(...values, key, fence) as { state: 'retry' | 'dead' } | undefined | null;
      return row ? row.state : 'lost';
    });
  }

  release(key: string, fence: number): Promise<boolean> {
    return this.#connection.run(({ release }) => touched(release.get(key, fence)));
  }

  redrive(key: string): Promise<boolean> {
    return this.#connection.run(({ redrive }) => touched(redrive.get(key)));
  }

  purge(limit: number): Promise<number> {
    const most = toLimit(limit);
    return this.#connection.run(({ abandon, forget }) => {
      const abandoned = abandon.all(most).length;
      return abandoned + forget.all(most - abandoned).length;
    });
  }

  list({ state, scope, after = '', limit }: ListFilter) {
    const values = [after, scope ?? null, toLimit(limit)];
    return this.#connection.run((statements) =>
      (statements[state].all(...values) as DeliveryRow[]).map((row) => toStored(row, state)),
    );
  }

  count(state: StoredDelivery['state']): Promise<number> {
    return this.#connection.run(({ countDead, countStalled }) => {
      const statement = state === 'dead' ? countDead : countStalled;
      return Number((statement.get(COUNT_LIMIT) as { number: Integer }).number);
    });
  }
}

/** As the statements say; a connection may be set to give every integer as a bigint. */
type Integer = number | bigint;

interface ClaimRow {
  readonly state: Claim['state'] | 'leased';
  readonly owner: string;
  readonly fence: Integer;
  readonly attempts: Integer;
  readonly handlers: string;
  readonly error: string | null;
  readonly wait: Integer;
}

interface DeliveryRow {
  readonly key: string;
  readonly scope: string;
  readonly id: string;
  readonly event: string;
  readonly received_at: Integer;
  readonly body: Uint8Array;
  readonly attempts: Integer;
  readonly error: string | null;
}

function toClaim(row: ClaimRow, owner: string): Claim {
  if (row.state === 'done') return { state: 'done' };
  if (row.state === 'dead') return { state: 'dead', error: row.error ?? undefined };
  if (row.state !== 'leased' || row.owner !== owner) {
    return { state: 'busy', retryAfterMs: Number(row.wait) };
  }
  const handlers: Record<string, string> = JSON.parse(row.handlers);
  const done = Object.entries(handlers).map(([name, output]) => [name, JSON.parse(output)]);
  return {
    state: 'acquired',
    fence: Number(row.fence),
    attempt: Number(row.attempts),
    done: Object.fromEntries(done),
  };
}

function toStored(row: DeliveryRow, state: StoredDelivery['state']): StoredDelivery {
  const { key, scope, id, event, body, error, received_at, attempts } = row;
  return {
    key,
    scope,
    id,
    event,
    body: new Uint8Array(body),
    receivedAt: Number(received_at),
    state,
    attempts: Number(attempts),
    error: error ?? undefined,
  };
}

/** Nothing, by whatever name the driver calls it, where no row was touched. */
function touched(row: unknown): boolean {
  return row !== undefined && row !== null;
}

/** For ever is no time at all. */
function finite(keepMs: number): number | null {
  return keepMs === Number.POSITIVE_INFINITY ? null : keepMs;
}

function atMost(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}

/** SQLite takes whole numbers only, and a negative one for no limit at all. Not a number is nothing. */
function toLimit(limit: number): number {
  return atMost(Math.max(Math.floor(limit) || 0, 0));
}
