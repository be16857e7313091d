import type { Json } from '../../schemas/values.js';
import type { ReadFilter, StoreVerbs } from '../contract.js';
import {
  type Claim,
  type Claimable,
  COUNT_LIMIT,
  type CountFilter,
  type FailTerms,
  IN_TRANSACTION,
  type LeaseTerms,
  type StoredDelivery,
} from '../store.js';
import type { SqliteValue } from './database.js';
import { Row, toClaim, toListed } from './rows.js';
import type { StatementName } from './statements.js';

const COUNTS = { dead: 'countDead', stalled: 'countStalled', failing: 'countFailing' } as const;

/** Facts that the runner of a statement may use. */
export interface StatementHints {
  /** The key of the delivery, if the statement is about a single one. */
  readonly key?: string;
  /** The write need not be on the disk when the promise resolves, because a transaction follows that is. */
  readonly isSoon?: boolean | undefined;
}

/** Runs one statement to its end, and returns its rows; none if the statement touched no row. */
export type RunStatement = (
  name: StatementName,
  values: readonly SqliteValue[],
  hints?: StatementHints,
) => Promise<readonly unknown[]>;

/** A store that runs its verbs as statements, on any SQLite. */
export class StatementStore implements StoreVerbs {
  readonly durable: boolean;
  readonly description: string;
  readonly maxBodyBytes: number | undefined;
  readonly #run: RunStatement;

  constructor(
    {
      durable,
      description,
      maxBodyBytes,
    }: Pick<StoreVerbs, 'durable' | 'maxBodyBytes'> & { readonly description: string },
    run: RunStatement,
  ) {
    this.durable = durable;
    this.description = description;
    this.maxBodyBytes = maxBodyBytes;
    this.#run = run;
  }

  async claim(delivery: Claimable, lease: LeaseTerms): Promise<Claim> {
    const { key, scope, id, event, receivedAt, body = null, proof } = delivery;
    const { leaseMs, keepMs, maxCrashes, isTransaction: isSoon } = lease;
    const owner = isSoon ? IN_TRANSACTION + lease.owner : lease.owner;
    const terms = [owner, leaseMs, finite(keepMs), atMost(maxCrashes)];
    const values = [key, scope, id, event, receivedAt, body, ...terms];
    const ask = async (isSoon?: boolean) => {
      const [row] =
        proof === undefined || !body
          ? await this.#run('claim', values, { key, isSoon })
          : await this.#run('claimProved', [proof, ...values], { key, isSoon });
      return toClaim(new Row(row), owner);
    };
    const claim = await ask(isSoon);
    // A dead delivery is answered 200, so the mark has to be on the disk: the same claim again waits for that.
    return isSoon && claim.state === 'dead' ? ask() : claim;
  }

  renew(key: string, fence: number, leaseMs: number): Promise<boolean> {
    return this.#touches('renew', [leaseMs, key, fence], key);
  }

  completeStep(key: string, fence: number, step: string, output: Json): Promise<boolean> {
    // As text, because null and objects have a special meaning in a patch.
    const patch = JSON.stringify({ [step]: JSON.stringify(output) });
    return this.#touches('completeStep', [patch, key, fence], key);
  }

  complete(key: string, fence: number, keepMs: number): Promise<boolean> {
    return this.#touches('complete', [finite(keepMs), key, fence], key);
  }

  async fail(
    key: string,
    fence: number,
    { error, permanent }: FailTerms,
  ): Promise<'retry' | 'dead' | 'lost'> {
    const [row] = await this.#run('fail', [error, Number(permanent), key, fence], { key });
    if (row === undefined) return 'lost';
    return new Row(row).text('state') === 'dead' ? 'dead' : 'retry';
  }

  release(key: string, fence: number): Promise<boolean> {
    return this.#touches('release', [key, fence], key);
  }

  redrive(key: string): Promise<boolean> {
    return this.#touches('redrive', [key], key);
  }

  isDone(key: string): Promise<boolean> {
    return this.#touches('isDone', [key], key);
  }

  async purge(limit: number): Promise<number> {
    const abandoned = (await this.#run('abandon', [limit])).length;
    if (abandoned >= limit) return abandoned;
    return abandoned + (await this.#run('forget', [limit - abandoned])).length;
  }

  async list({ state, scope, after, limit }: ReadFilter): Promise<readonly StoredDelivery[]> {
    const rows = await this.#run(state, [after, scope ?? null, limit]);
    return rows.map((row) => toListed(new Row(row), state));
  }

  async count({ state, scope }: CountFilter): Promise<number> {
    const [row] = await this.#run(COUNTS[state], [scope ?? null, COUNT_LIMIT]);
    return new Row(row).number('number');
  }

  async #touches(
    name: StatementName,
    values: readonly SqliteValue[],
    key: string,
  ): Promise<boolean> {
    return (await this.#run(name, values, { key })).length > 0;
  }
}

/**
 * Converts `Infinity`, which means forever, to null. More than a thousand years means forever as well: node:sqlite throws
 * when it reads a time beyond 2^53.
 */
export function finite(keepMs: number): number | null {
  return keepMs > 1e14 ? null : keepMs;
}

function atMost(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}
