import { UsageError } from '../errors.js';
import { OptionChecks } from '../option-checks.js';
import {
  DAY_MS,
  readSourceOptions,
  SOURCE_NAMES,
  type SourceOptions,
  type SourceSettings,
} from './source.js';

/** What {@link recover} takes. */
export interface RecoverOptions extends SourceOptions {
  /** Runs what was missed. Default `false`: it is only listed. */
  apply?: boolean;
  /**
   * How far back to look: a date, or milliseconds. Default 7 days. Not longer than the receiver's `keepDays`:
   * what was done before that is forgotten, and would be done again.
   */
  since?: Date | number;
  /**
   * Makes a webhook endpoint anew that the provider has disabled, with the same address and events, and deletes
   * the old one. Needs `apply`. Default `false`: it is only told.
   */
  recreateEndpoint?: boolean;
  /**
   * Compares the paid orders as well, and runs those of which the log says nothing, as while the endpoint was
   * disabled. Runs them only where each handler of `order:paid` has an `oncePer`, and one `url` is given to a receiver
   * with a `secret` function: else a delivery that comes later would do it again. Default: where the endpoint is disabled or missing.
   */
  orders?: boolean;
  /**
   * Runs, here, what the receiver has put into its queue and the store does not know as done: for a queue
   * that has lost its jobs. A job that is still there is a duplicate afterwards. Default `false`: it is left to
   * the queue, and counted as `log.queued`.
   */
  queued?: boolean;
}

/** The options, checked and complete. */
export interface RecoverSettings extends SourceSettings {
  readonly apply: boolean;
  readonly recreateEndpoint: boolean;
  readonly orders: boolean | undefined;
  readonly queued: boolean;
}

const NAMES = [
  ...SOURCE_NAMES,
  'apply',
  'recreateEndpoint',
  'orders',
  'queued',
] as const satisfies (keyof RecoverOptions)[];

const checks = new OptionChecks('recover');

/** @throws {UsageError} `option_invalid`, with what to change. */
export function readRecoverOptions(options: RecoverOptions): RecoverSettings {
  const source = readSourceOptions(options, NAMES, checks);
  const { apply = false, recreateEndpoint = false, orders, queued = false } = options;
  for (const [name, value] of Object.entries({ apply, recreateEndpoint, orders, queued })) {
    const isFlag = value === undefined || typeof value === 'boolean';
    checks.check(isFlag, name, 'true or false');
  }
  checks.check(!recreateEndpoint || apply, 'recreateEndpoint', 'given with { apply: true }');
  const { receiver, now, since } = source;
  checks.check(
    !receiver.isFront,
    'receiver',
    "the one of the queue's worker, which has the handlers",
  );
  if (!receiver.durable) {
    throw new UsageError(
      'option_invalid',
      'recover: the receiver has its store in memory, which does not know what was done before this process ' +
        'began: all of it would be done again. Give createReceiver() the durable store of the shop, such as ' +
        "store: sqliteStore(new DatabaseSync('webhooks.db')).",
    );
  }
  checks.check(
    now - since <= receiver.keepMs,
    'since',
    `at most ${receiver.keepMs / DAY_MS} days ago, which is the keepDays of the receiver: what was done before is forgotten, and would be done again. ` +
      'For what is older, compare the orders with reconcile()',
  );
  return { ...source, apply, recreateEndpoint, orders, queued };
}
