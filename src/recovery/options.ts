import { UsageError } from '../errors/errors.js';
import { OptionChecks } from '../errors/option-checks.js';
import {
  DAY_MS,
  readSourceOptions,
  SOURCE_NAMES,
  type SourceOptions,
  type SourceSettings,
} from './source.js';

/** Options of {@link recover}. */
export interface RecoverOptions extends SourceOptions {
  /** Runs the missed deliveries. Default `false`: they are only listed. */
  apply?: boolean;
  /**
   * How far back to look: a date, or milliseconds. Default 7 days. At most the receiver's `keepDays`: the
   * store forgets what was done before that, so it would be done again.
   */
  since?: Date | number;
  /**
   * Creates a new webhook endpoint for each one that the provider has disabled, with the same address and
   * events, and deletes the old one. Needs `apply`. Default `false`: a disabled endpoint is only reported.
   */
  recreateEndpoint?: boolean;
  /**
   * Also compares the paid orders, and runs each order that the log does not mention, such as one paid while
   * the endpoint was disabled. Runs them only if each handler of `order:paid` has an `oncePer` and, for a
   * receiver with a `secret` function, if one `url` is given; otherwise a later delivery would do the work
   * again. Orders made before the receiver's first answer also need `earlier`. Default: compares if the
   * endpoint is disabled or was recreated within `since`. `true` always compares, also for an address that no
   * endpoint has; `false` uses the log alone.
   */
  orders?: boolean;
  /**
   * Also runs deliveries from before the first answer that both this receiver and its store know of. The code
   * that ran before, another address of the account, a receiver with another secret or scope, or a store that
   * was lost may have delivered them. Default `false`: they are left, as `earlier`.
   */
  earlier?: boolean;
  /**
   * Runs, in this process, deliveries that the receiver has put into its queue and that the store does not
   * have as done: for a queue that has lost its jobs. A job that is still in the queue becomes a duplicate.
   * Default `false`: they are left to the queue, and counted as `log.queued`.
   */
  queued?: boolean;
}

/** The options, checked and with their defaults. */
export interface RecoverSettings extends SourceSettings {
  readonly apply: boolean;
  readonly recreateEndpoint: boolean;
  readonly orders: boolean | undefined;
  readonly earlier: boolean;
  readonly queued: boolean;
}

const NAMES = [
  ...SOURCE_NAMES,
  'apply',
  'recreateEndpoint',
  'orders',
  'earlier',
  'queued',
] as const satisfies (keyof RecoverOptions)[];

const checks = new OptionChecks('recover');

/**
 * Reads and checks the options.
 *
 * @throws {UsageError} `option_invalid`, with what to change.
 */
export function readRecoverOptions(options: RecoverOptions): RecoverSettings {
  const source = readSourceOptions(options, NAMES, checks);
  const { apply = false, recreateEndpoint = false, orders } = options;
  const { earlier = false, queued = false } = options;
  const flags = { apply, recreateEndpoint, orders, earlier, queued };
  for (const [name, value] of Object.entries(flags)) {
    const isFlag = value === undefined || typeof value === 'boolean';
    checks.check(isFlag, name, 'true or false');
  }
  checks.check(!recreateEndpoint || apply, 'recreateEndpoint', 'given with { apply: true }');
  const { receiver, now, since } = source;
  checks.check(
    !receiver.isFront,
    'receiver',
    "the receiver of the queue's worker, which has the handlers",
  );
  if (!receiver.durable) {
    throw new UsageError(
      'option_invalid',
      'recover: the receiver has its store in memory, which does not know what was done before this process ' +
        'started, so everything would be done again. Give createReceiver() the durable store of the shop, such as ' +
        "store: sqliteStore(new DatabaseSync('webhooks.db')).",
    );
  }
  checks.check(
    now - since <= receiver.keepMs,
    'since',
    `at most ${receiver.keepMs / DAY_MS} days ago, the keepDays of the receiver: its store forgets what was done before, so it would be done again. ` +
      'For anything older, compare the orders with reconcile()',
  );
  return { ...source, ...flags };
}
