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

/** What {@link reconcile} takes. */
export interface ReconcileOptions extends SourceOptions {
  /**
   * Asks the shop what it has delivered, fifty orders at a time. Default: the provider's log, which knows what
   * the receiver has answered, and nothing of what a handler has really done or recovery has brought back.
   */
  delivered?: DeliveredFunction;
  /** Order states in which goods are to be taken back. Default `[51, 56]`, charged back and refunded. */
  reversedStatuses?: readonly (number | string)[];
}

/** The options, checked and complete. */
export interface ReconcileSettings extends SourceSettings {
  readonly delivered: DeliveredFunction | undefined;
  readonly reversedStatuses: readonly (number | string)[];
}

export const RECONCILE_NAMES = [
  ...SOURCE_NAMES,
  'delivered',
  'reversedStatuses',
] as const satisfies (keyof ReconcileOptions)[];

/** @throws {UsageError} `option_invalid`, with what to change. */
export function readReconcileOptions(
  options: ReconcileOptions,
  names: readonly string[] = RECONCILE_NAMES,
  checks = new OptionChecks('reconcile'),
): ReconcileSettings {
  const source = readSourceOptions(options, names, checks);
  const { delivered, reversedStatuses = [51, 56] } = options;
  const isOne = delivered === undefined || typeof delivered === 'function';
  checks.check(isOne, 'delivered', 'a function of order ids that gives those that were delivered');
  checks.check(
    Array.isArray(reversedStatuses),
    'reversedStatuses',
    'a list of order states, such as [51, 56]',
  );
  return { ...source, delivered, reversedStatuses };
}
