import { OptionChecks } from '../option-checks.js';
import {
  readSourceOptions,
  SOURCE_NAMES,
  type SourceOptions,
  type SourceSettings,
} from './source.js';

/**
 * Says what the shop has delivered of these orders: their ids, each as often as its goods went out. Goods that
 * were taken back are left out.
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
 * A ledger that {@link reconcile} asks, such as that of `postgresLedger(pool)` or `d1Ledger(env.DB)`. That of
 * `sqliteLedger()` is told where it is entered.
 *
 * @example
 * import Database from 'libsql';
 *
 * const database = new Database('shop.db');
 * const sqlite = sqliteLedger();
 * const ledger: ReadableLedger = { entered: async (keys) => sqlite.entered(database, keys) };
 */
export interface ReadableLedger {
  /** Gives those of these keys under which an effect is entered: each is 64 hexadecimal digits. */
  entered(keys: readonly string[]): Promise<readonly string[]>;
}

/** What {@link reconcile} takes. */
export interface ReconcileOptions extends SourceOptions {
  /**
   * Asks the shop what it has delivered, fifty orders at a time. Default: the `ledger`, or what the receiver
   * has answered in the provider's log together with what its store says is done, which both do not know what a
   * handler has really done.
   */
  delivered?: DeliveredFunction;
  /**
   * The ledger in which the handlers of `order:paid` enter what they do: an order is delivered where one of them
   * has entered it. Not beside `delivered`. Default: the log and the store are believed.
   */
  ledger?: ReadableLedger;
  /** Order states in which goods are to be taken back. Default `[51, 56]`, charged back and refunded. */
  reversedStatuses?: readonly (number | string)[];
}

/** The options, checked and complete. */
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

/** @throws {UsageError} `option_invalid`, with what to change. */
export function readReconcileOptions(
  options: ReconcileOptions,
  names: readonly string[] = RECONCILE_NAMES,
  checks = new OptionChecks('reconcile'),
): ReconcileSettings {
  const source = readSourceOptions(options, names, checks);
  const { delivered, ledger, reversedStatuses = [51, 56] } = options;
  const isOne = delivered === undefined || typeof delivered === 'function';
  checks.check(isOne, 'delivered', 'a function of order ids that gives those that were delivered');
  checks.check(
    ledger === undefined || typeof ledger?.entered === 'function',
    'ledger',
    'such as postgresLedger(pool), or { entered: (keys) => sqliteLedger().entered(database, keys) }',
  );
  checks.check(
    !ledger || !delivered,
    'ledger',
    'left out where delivered is given: one of them counts',
  );
  checks.check(
    Array.isArray(reversedStatuses),
    'reversedStatuses',
    'a list of order states, such as [51, 56]',
  );
  return { ...source, delivered, ledger, reversedStatuses };
}
