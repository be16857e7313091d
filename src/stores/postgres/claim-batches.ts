import { safely } from '../../errors/log.js';
import { Batch, type BatchOptions } from '../batch.js';
import type { Claim } from '../store.js';
import { type Asked, byKey, HELD, toClaim, toColumns } from './claims.js';
import { type Row, sqlState, type Value } from './client.js';
import * as sql from './statements.js';

/** The approximate size of a claim without its body. */
const CLAIM_SIZE = 512;
/** Of the statements that claim effects: each may wait for a lock. */
const MAX_RUNNING_EFFECTS = 2;
const LOCKED = '55P03';

/** @param isEffect - Whether the statement fails at once if it has to wait for a lock. */
type Run = (
  text: string,
  values: Value[],
  name: string,
  isEffect?: boolean,
) => Promise<readonly Row[]>;

type Limits = Pick<
  BatchOptions<unknown, unknown>,
  'maxRunning' | 'maxItems' | 'maxSize' | 'isFaultOfOne'
>;

/** The claims of a store. Those that come at the same time share a statement. */
export class Claims {
  /** Whether rows may be locked for as long as a handler runs. */
  #isBesideTransactions = false;
  readonly #run: Run;
  readonly #deliveries: Batch<Asked, Claim>;
  /**
   * The claims of effects beside transactions. The row of an effect that a transaction does is not visible until it
   * commits, so no statement can leave it out: the statement waits for it, and deliveries must not wait too.
   */
  readonly #effects: Batch<Asked, Claim>;

  constructor(run: Run, limits: Limits) {
    this.#run = run;
    const options: BatchOptions<Asked, Claim> = {
      ...limits,
      sizeOf: ({ delivery }) => CLAIM_SIZE + (delivery.body?.length ?? 0),
      keyOf: ({ delivery }) => delivery.key,
      // An exception of this function, which may be the seller's own, would end the process here.
      dropped: ({ lease }) => (safely(() => lease.isGone?.()) ? { state: 'gone' } : undefined),
    };
    this.#deliveries = new Batch<Asked, Claim>((asked) => this.#claim(asked, false), options);
    this.#effects = new Batch<Asked, Claim>((asked) => this.#claimEffects(asked), {
      ...options,
      maxRunning: Math.min(MAX_RUNNING_EFFECTS, limits.maxRunning),
      isFaultOfOne: (error) => isLocked(error) || limits.isFaultOfOne?.(error) === true,
    });
  }

  expectLocks(): void {
    this.#isBesideTransactions = true;
  }

  add(asked: Asked): Promise<Claim> {
    const isEffect = this.#isBesideTransactions && asked.delivery.body === undefined;
    return (isEffect ? this.#effects : this.#deliveries).add(asked);
  }

  async #claimEffects(asked: readonly Asked[]): Promise<Claim[]> {
    try {
      return await this.#claim(asked, true);
    } catch (error) {
      if (asked.length === 1 && isLocked(error)) return [HELD];
      throw error;
    }
  }

  async #claim(asked: readonly Asked[], isEffect: boolean): Promise<Claim[]> {
    const claims = asked.map(toColumns);
    const isSoon = asked.every(({ lease }) => lease.isTransaction);
    const [one, ...others] = claims;
    if (one && others.length === 0) {
      const { crashes: _, ...columns } = one;
      const values = Object.values(columns);
      const [row] = isEffect
        ? await this.#run(sql.CLAIM_NEW_EFFECT, values, 'claim effect', true)
        : isSoon
          ? await this.#run(sql.CLAIM_NEW_SOON, values, 'claim soon')
          : await this.#run(sql.CLAIM_NEW, values, 'claim');
      if (row) return [{ state: 'acquired', fence: row.number('fence'), attempt: 1, steps: {} }];
    }
    const values = [JSON.stringify(claims)];
    let rows = byKey(
      isSoon
        ? await this.#run(sql.CLAIM_UNLOCKED_SOON, values, 'claim all soon', isEffect)
        : this.#isBesideTransactions
          ? await this.#run(sql.CLAIM_UNLOCKED, values, 'claim unlocked', isEffect)
          : await this.#run(sql.CLAIM, values, 'claim all'),
    );
    // A dead delivery is answered 200, so the mark has to be on the disk: the same claim again waits for that.
    if (isSoon && [...rows.values()].some((row) => row.text('state') === 'dead'))
      rows = byKey(await this.#run(sql.CLAIM_UNLOCKED, values, 'claim unlocked', isEffect));
    const isLeftOut = this.#isBesideTransactions;
    return asked.map(({ delivery, lease }) =>
      toClaim(rows.get(delivery.key), lease.owner, isLeftOut),
    );
  }
}

function isLocked(error: unknown): boolean {
  return sqlState(error) === LOCKED;
}
