import type { Json } from '../../schemas/json.js';
import { checkState, readFilter, toLimit } from '../limit.js';
import {
  type Claim,
  type Claimable,
  COUNT_LIMIT,
  ERROR_CHARACTERS,
  type FailTerms,
  type IdempotencyStore,
  type LeaseTerms,
  type ListFilter,
  type StoredDelivery,
  type UnfinishedState,
} from '../store.js';
import type { SqliteValue } from './database.js';
import { type ClaimRow, type DeliveryRow, fromRow, type Integer, toClaim } from './rows.js';
import type { StatementName } from './statements.js';

const COUNTS = { dead: 'countDead', stalled: 'countStalled', failing: 'countFailing' } as const;

/** Runs one statement to its end, and gives its rows: none where nothing was touched. */
export type RunStatement = (
  name: StatementName,
  values: readonly SqliteValue[],
) => Promise<readonly unknown[]>;

/** The verbs as statements, wherever the SQLite is that runs them. */
export class StatementStore implements IdempotencyStore {
  readonly durable: boolean;
  readonly description: string;
  readonly #run: RunStatement;

  constructor(
    { durable, description }: { readonly durable: boolean; readonly description: string },
    run: RunStatement,
  ) {
    this.durable = durable;
    this.description = description;
    this.#run = run;
  }

  async claim(delivery: Claimable, lease: LeaseTerms): Promise<Claim> {
    const { key, scope, id, event, receivedAt, body = null, proof } = delivery;
    const { owner, leaseMs, keepMs, maxCrashes } = lease;
    const terms = [owner, leaseMs, finite(keepMs), atMost(maxCrashes)];
    const values = [key, scope, id, event, receivedAt, body, ...terms];
    const [row] =
      proof === undefined || !body
        ? await this.#run('claim', values)
        : await this.#run('claimProved', [proof, ...values]);
    return toClaim(row as ClaimRow, owner);
  }

  renew(key: string, fence: number, leaseMs: number): Promise<boolean> {
    return this.#touches('renew', [leaseMs, key, fence]);
  }

  completeStep(key: string, fence: number, step: string, output: Json): Promise<boolean> {
    // As text, because null and objects have a meaning of their own in a patch.
    const patch = JSON.stringify({ [step]: JSON.stringify(output) });
    return this.#touches('completeStep', [patch, key, fence]);
  }

  complete(key: string, fence: number, keepMs: number): Promise<boolean> {
    return this.#touches('complete', [finite(keepMs), key, fence]);
  }

  async fail(key: string, fence: number, terms: FailTerms): Promise<'retry' | 'dead' | 'lost'> {
    const error = terms.error.slice(0, ERROR_CHARACTERS);
    const [row] = await this.#run('fail', [error, Number(terms.permanent), key, fence]);
    return row === undefined ? 'lost' : (row as { state: 'retry' | 'dead' }).state;
  }

  release(key: string, fence: number): Promise<boolean> {
    return this.#touches('release', [key, fence]);
  }

  redrive(key: string): Promise<boolean> {
    return this.#touches('redrive', [key]);
  }

  async purge(limit: number): Promise<number> {
    const most = toLimit(limit);
    const abandoned = (await this.#run('abandon', [most])).length;
    if (abandoned >= most) return abandoned;
    return abandoned + (await this.#run('forget', [most - abandoned])).length;
  }

  async list(filter: ListFilter): Promise<StoredDelivery[]> {
    const { state, scope, after, limit } = readFilter(filter);
    const rows = await this.#run(state, [after, scope ?? null, limit]);
    return (rows as DeliveryRow[]).map((row) => fromRow(row, state));
  }

  async count(state: UnfinishedState): Promise<number> {
    const [row] = await this.#run(COUNTS[checkState(state)], [COUNT_LIMIT]);
    return Number((row as { number: Integer }).number);
  }

  async #touches(name: StatementName, values: readonly SqliteValue[]): Promise<boolean> {
    return (await this.#run(name, values)).length > 0;
  }
}

/** For ever is no time at all. */
function finite(keepMs: number): number | null {
  return keepMs === Number.POSITIVE_INFINITY ? null : keepMs;
}

function atMost(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}
