import { OptionChecks } from '../errors/option-checks.js';
import {
  readSourceOptions,
  SOURCE_NAMES,
  type SourceOptions,
  type SourceSettings,
} from './source.js';

/**
 * Returns which of these orders the shop has delivered: their ids, each as often as its goods were delivered.
 * Leaves out goods that were taken back.
 *
 * @example
 * const delivered: DeliveredFunction = async (ids) => {
 *   const { rows } = await pool.query('SELECT order_id FROM keys WHERE order_id = ANY($1)', [ids]);
 *   return rows.map(({ order_id }) => order_id);
 * };
 */
export type DeliveredFunction = (
  orderIds: readonly string[],
) => readonly string[] | Promise<readonly string[]>;

/**
 * A ledger that {@link reconcile} reads, such as `postgresLedger(pool)` or `d1Ledger(env.DB)`.
 * `sqliteLedger()` needs the database as an argument.
 *
 * @example
 * import Database from 'libsql';
 *
 * const database = new Database('shop.db');
 * const sqlite = sqliteLedger();
 * const ledger: ReadableLedger = { entered: async (keys) => sqlite.entered(database, keys) };
 */
export interface ReadableLedger {
  /** Returns the keys that have an effect in the ledger. Each key is 64 hexadecimal digits. */
  entered(keys: readonly string[]): Promise<readonly string[]>;
}

/** Options of {@link reconcile}. */
export interface ReconcileOptions extends SourceOptions {
  /**
   * Asks the shop what it has delivered, fifty orders at a time. Default: the `ledger`, or the receiver's
   * answers in the provider's log together with what its store has as done. Neither the log nor the store
   * knows what a handler really did.
   */
  delivered?: DeliveredFunction;
  /**
   * The ledger in which the handlers of `order:paid` record their effects. An order is delivered if one of
   * them has recorded it. Not together with `delivered`. Default: the log and the store decide.
   */
  ledger?: ReadableLedger;
  /** Order states in which goods have to be taken back. Default `[51, 56]`, charged back and refunded. */
  reversedStatuses?: readonly (number | string)[];
}

/** The options, checked and with their defaults. */
export interface ReconcileSettings extends SourceSettings {
  readonly delivered: DeliveredFunction | undefined;
  readonly ledger: ReadableLedger | undefined;
  readonly reversedStatuses: readonly (number | string)[];
}

export const RECONCILE_NAMES = [
  ...SOURCE_NAMES,
  'delivered',
  'ledger',
  'reversedStatuses',
] as const satisfies (keyof ReconcileOptions)[];

/**
 * Reads and checks the options.
 *
 * @throws {UsageError} `option_invalid`, with what to change.
 */
export function readReconcileOptions(
  options: ReconcileOptions,
  names: readonly string[] = RECONCILE_NAMES,
  checks = new OptionChecks('reconcile'),
): ReconcileSettings {
  const source = readSourceOptions(options, names, checks);
  const { delivered, ledger, reversedStatuses = [51, 56] } = options;
  const isOne = delivered === undefined || typeof delivered === 'function';
  checks.check(
    isOne,
    'delivered',
    'a function that takes order ids and returns those that were delivered',
  );
  checks.check(
    ledger === undefined || typeof ledger?.entered === 'function',
    'ledger',
    'such as postgresLedger(pool), or { entered: (keys) => sqliteLedger().entered(database, keys) }',
  );
  checks.check(
    !ledger || !delivered,
    'ledger',
    'left out if delivered is given: only one of them can decide',
  );
  checks.check(
    Array.isArray(reversedStatuses),
    'reversedStatuses',
    'a list of order states, such as [51, 56]',
  );
  return { ...source, delivered, ledger, reversedStatuses };
}
