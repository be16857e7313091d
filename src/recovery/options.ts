import { parseAddress } from '../address.js';
import type { Client } from '../api/client.js';
import { UsageError } from '../errors.js';
import { OptionChecks } from '../option-checks.js';
import { RECOVER, type Recovering } from '../process/logged.js';
import type { Recovered } from './recovered.js';

/** The part of a client of the provider's service that recovery needs. */
export type RecoveryClient = Pick<Client, 'webhookLogs' | 'webhookEndpoints' | 'orders'>;

/** A receiver, as `createReceiver` makes it, with its handlers. */
export interface RecoverableReceiver {
  readonly [RECOVER]: Recovering;
}

/** What {@link recover} takes. Times are milliseconds, where a name says no unit. */
export interface RecoverOptions {
  /** The receiver with its handlers, on the durable store that its processes share. */
  receiver: RecoverableReceiver;
  /** Reads the provider's log: what `createClient` of `storefront-webhooks/api` gives. */
  client: RecoveryClient;
  /**
   * The address that the provider sends to, as the webhook endpoint has it; or several. Its query does not count.
   * The log has what was sent to all endpoints of the account, and some may be somebody else's.
   */
  url: string | readonly string[];
  /** Runs what was missed. Default `false`: it is only listed. */
  apply?: boolean;
  /**
   * How far back to look: a date, or milliseconds. Default 7 days. Not longer than the receiver's `keepDays`:
   * what was done before that is forgotten, and would be done again.
   */
  since?: Date | number;
  /**
   * How long an answer may be on its way, and a retry late, before the delivery counts as missed. Default 5
   * minutes.
   */
  pendingAfter?: number;
  /** The most requests a second to the provider's service. Default 5. */
  perSecond?: number;
  /**
   * Makes a webhook endpoint anew that the provider has disabled, with the same address and events, and deletes
   * the old one. Needs `apply`. Default `false`: it is only told.
   */
  recreateEndpoint?: boolean;
  /**
   * Compares the paid orders as well, and runs those of which the log says nothing, as while the endpoint was
   * disabled. Runs them only where each handler of `order:paid` has an `oncePer`, or `keyBy` is a function: else
   * a delivery that comes later would do it again. Default: where the endpoint is disabled or missing.
   */
  orders?: boolean;
  /** Told of what is found and done, as it happens. Default: nobody is. */
  onProgress?: (progress: RecoverProgress) => void;
  /** Ends it, and rejects with its reason. Without it, it runs to its end. */
  signal?: AbortSignal;
  /** What counts as now, for a log whose clock is not this one. Default: the clock of this process. */
  now?: Date;
}

/** How far recovery is. */
export interface RecoverProgress {
  /** `log`: reads it. `orders`: compares them. `deliveries`: runs what was missed. */
  readonly step: 'log' | 'orders' | 'deliveries';
  readonly done: number;
  /** Pages, or deliveries; `undefined` where the provider does not say how many there are. */
  readonly of: number | undefined;
  /** In `deliveries`, what became of the one that was run last, or would have been. */
  readonly delivery?: Recovered;
}

/** The options, checked and complete. */
export interface RecoverSettings {
  readonly receiver: Recovering;
  readonly client: RecoveryClient;
  readonly urls: readonly string[];
  readonly apply: boolean;
  readonly since: number;
  readonly now: number;
  readonly pendingAfterMs: number;
  readonly perSecond: number;
  readonly recreateEndpoint: boolean;
  readonly orders: boolean | undefined;
  readonly onProgress: (progress: RecoverProgress) => void;
  readonly signal: AbortSignal | undefined;
}

const NAMES = [
  'receiver',
  'client',
  'url',
  'apply',
  'since',
  'pendingAfter',
  'perSecond',
  'recreateEndpoint',
  'orders',
  'onProgress',
  'signal',
  'now',
] as const satisfies (keyof RecoverOptions)[];

const DAY_MS = 24 * 60 * 60 * 1000;

/** @throws {UsageError} `option_invalid`, with what to change. */
export function readRecoverOptions(options: RecoverOptions): RecoverSettings {
  const checks = new OptionChecks('recover');
  const given = typeof options === 'object' && options !== null;
  checks.check(given, 'receiver', 'given: recover({ receiver, client, url })');
  checks.checkNames(Object.keys(options), NAMES);
  const { client, apply = false, recreateEndpoint = false, orders, now = new Date() } = options;
  const receiver = toRecovering(options.receiver, checks);
  checks.check(
    typeof client?.webhookLogs?.list === 'function',
    'client',
    "what createClient() of 'storefront-webhooks/api' gives",
  );
  for (const [name, value] of Object.entries({ apply, recreateEndpoint, orders })) {
    const isFlag = value === undefined || typeof value === 'boolean';
    checks.check(isFlag, name, 'true or false');
  }
  checks.check(!recreateEndpoint || apply, 'recreateEndpoint', 'given with { apply: true }');
  checks.check(isDate(now), 'now', 'a Date');
  const { onProgress = () => {}, signal } = options;
  checks.check(typeof onProgress === 'function', 'onProgress', 'a function');
  return {
    receiver,
    client,
    urls: readUrls(options.url, checks),
    apply,
    since: readSince(options.since, now.getTime(), receiver.keepMs, checks),
    now: now.getTime(),
    pendingAfterMs: checks.positive('pendingAfter', options.pendingAfter ?? 5 * 60_000),
    perSecond: checks.positive('perSecond', options.perSecond ?? 5, Number.POSITIVE_INFINITY),
    recreateEndpoint,
    orders,
    onProgress,
    signal,
  };
}

/** @throws {UsageError} `option_invalid` */
export function toRecovering(receiver: unknown, checks: OptionChecks): Recovering {
  const isOne = typeof receiver === 'object' && receiver !== null && RECOVER in receiver;
  checks.check(isOne, 'receiver', 'what createReceiver() gives, with its handlers');
  const recovering = (receiver as RecoverableReceiver)[RECOVER];
  if (!recovering.durable) {
    throw new UsageError(
      'option_invalid',
      'recover: the receiver has its store in memory, which does not know what was done before this process ' +
        'began: all of it would be done again. Give createReceiver() the durable store of the shop, such as ' +
        "store: sqliteStore(new DatabaseSync('webhooks.db')).",
    );
  }
  return recovering;
}

/** @throws {UsageError} `option_invalid` */
export function readUrls(url: string | readonly string[], checks: OptionChecks): readonly string[] {
  const urls = [url].flat();
  const areAddresses = urls.length > 0 && urls.every((one) => parseAddress(one) !== undefined);
  checks.check(
    areAddresses,
    'url',
    "the address that the provider sends to, such as 'https://shop.example/webhooks'",
  );
  return urls;
}

function readSince(
  since: Date | number = 7 * DAY_MS,
  now: number,
  keepMs: number,
  checks: OptionChecks,
): number {
  const isOne = typeof since === 'number' ? since > 0 : isDate(since);
  checks.check(
    isOne,
    'since',
    'a Date, or a number of milliseconds, such as 3 * 24 * 60 * 60 * 1000',
  );
  const from = typeof since === 'number' ? now - since : since.getTime();
  checks.check(from < now, 'since', 'in the past');
  checks.check(
    now - from <= keepMs,
    'since',
    `at most ${keepMs / DAY_MS} days ago, which is the keepDays of the receiver: what was done before is forgotten, and would be done again. ` +
      'For what is older, compare the orders with reconcile()',
  );
  return from;
}

function isDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}
