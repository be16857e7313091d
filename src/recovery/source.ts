import { parseAddress } from '../address.js';
import type { Client } from '../api/client.js';
import type { OptionChecks } from '../option-checks.js';
import { INSIDE, type Inside } from '../process/inside.js';
import { type Recovering, toRecovering } from './logged.js';
import type { Recovered } from './recovered.js';

/** The part of a client of the provider's service that recovery needs. */
export type RecoveryClient = Pick<Client, 'webhookLogs' | 'webhookEndpoints' | 'orders'>;

/** A receiver, as `createReceiver` makes it, with its handlers. */
export interface RecoverableReceiver {
  readonly [INSIDE]: Inside;
}

/** What {@link recover} and {@link reconcile} take. Times are milliseconds, where a name says no unit. */
export interface SourceOptions {
  /** The receiver with its handlers, on the durable store that its processes share. */
  receiver: RecoverableReceiver;
  /** Reads the provider's log: what `createClient` of `storefront-webhooks/api` gives. */
  client: RecoveryClient;
  /**
   * The address that the provider sends to, as the webhook endpoint has it; or several. Its query does not count.
   * The log has what was sent to all endpoints of the account, and some may be somebody else's.
   */
  url: string | readonly string[];
  /** How far back to look: a date, or milliseconds. Default 7 days. */
  since?: Date | number;
  /**
   * How long an answer may be on its way, a retry late, or a handler at work, before something counts as
   * missed. Default 5 minutes.
   */
  pendingAfter?: number;
  /** The most requests a second to the provider's service. Default 5. */
  perSecond?: number;
  /** Told of what is found and done, as it happens. Default: nobody is. */
  onProgress?: (progress: RecoveryProgress) => void;
  /** Ends it, and rejects with its reason. Without it, it runs to its end. */
  signal?: AbortSignal;
  /** What counts as now, for a log whose clock is not this one. Default: the clock of this process. */
  now?: Date;
}

/** How far it is. */
export interface RecoveryProgress {
  /**
   * `log`: reads it. `orders`: compares them. `deliveries`: runs what was missed. `waiting`: the provider cannot
   * answer now, and is asked again.
   */
  readonly step: 'log' | 'orders' | 'deliveries' | 'waiting';
  readonly done: number;
  /** Pages, deliveries or tries; `undefined` where the provider does not say how many there are. */
  readonly of: number | undefined;
  /** In `deliveries`, what became of the one that was run last, or would have been. Absent before the first. */
  readonly delivery?: Recovered;
}

/** The options of both, checked and complete. */
export interface SourceSettings {
  readonly receiver: Recovering;
  readonly client: RecoveryClient;
  readonly urls: readonly string[];
  readonly since: number;
  readonly now: number;
  readonly pendingAfterMs: number;
  readonly perSecond: number;
  readonly onProgress: (progress: RecoveryProgress) => void;
  readonly signal: AbortSignal | undefined;
}

export const SOURCE_NAMES = [
  'receiver',
  'client',
  'url',
  'since',
  'pendingAfter',
  'perSecond',
  'onProgress',
  'signal',
  'now',
] as const satisfies (keyof SourceOptions)[];

export const DAY_MS = 24 * 60 * 60 * 1000;

/** @throws {UsageError} `option_invalid`, with what to change. */
export function readSourceOptions(
  options: SourceOptions,
  names: readonly string[],
  checks: OptionChecks,
): SourceSettings {
  const isGiven = typeof options === 'object' && options !== null;
  checks.check(isGiven, 'receiver', 'given, with client and url');
  checks.checkNames(Object.keys(options), names);
  const { receiver, client, onProgress = () => {}, signal, now = new Date() } = options;
  const isReceiver = typeof receiver === 'object' && receiver !== null && INSIDE in receiver;
  checks.check(isReceiver, 'receiver', 'what createReceiver() gives, with its handlers');
  checks.check(
    typeof client?.webhookLogs?.list === 'function',
    'client',
    "what createClient() of 'storefront-webhooks/api' gives",
  );
  checks.check(isDate(now), 'now', 'a Date');
  checks.check(typeof onProgress === 'function', 'onProgress', 'a function');
  return {
    receiver: toRecovering(receiver[INSIDE]),
    client,
    urls: readUrls(options.url, checks),
    since: readSince(options.since, now.getTime(), checks),
    now: now.getTime(),
    pendingAfterMs: checks.positive('pendingAfter', options.pendingAfter ?? 5 * 60_000),
    perSecond: checks.positive('perSecond', options.perSecond ?? 5, Number.POSITIVE_INFINITY),
    onProgress,
    signal,
  };
}

function readUrls(url: string | readonly string[], checks: OptionChecks): readonly string[] {
  const urls = [url].flat();
  checks.check(
    urls.length > 0 && urls.every((one) => parseAddress(one) !== undefined),
    'url',
    "the address that the provider sends to, such as 'https://shop.example/webhooks'",
  );
  return urls;
}

function readSince(since: Date | number = 7 * DAY_MS, now: number, checks: OptionChecks): number {
  checks.check(
    typeof since === 'number' ? since > 0 : isDate(since),
    'since',
    'a Date, or a number of milliseconds, such as 3 * 24 * 60 * 60 * 1000',
  );
  const from = typeof since === 'number' ? now - since : since.getTime();
  checks.check(from < now, 'since', 'in the past');
  return from;
}

function isDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}
