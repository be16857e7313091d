import type { Client } from '../api/client.js';
import type { OptionChecks } from '../errors/option-checks.js';
import { INTERNALS, type Internals } from '../process/internals.js';
import { parseAddress } from '../runtime/address.js';
import { type Recovering, toRecovering } from './log-reader.js';
import type { Recovered } from './results.js';

/** The methods of the provider's client that recovery needs. */
export type RecoveryClient = Pick<Client, 'webhookLogs' | 'webhookEndpoints' | 'orders'>;

/** A receiver made by `createReceiver`, with its handlers. */
export interface RecoverableReceiver {
  readonly [INTERNALS]: Internals;
}

/** Options of both {@link recover} and {@link reconcile}. If a name has no unit, times are milliseconds. */
export interface SourceOptions {
  /** The receiver with its handlers, on the durable store that its processes share. */
  receiver: RecoverableReceiver;
  /** The client that reads the provider's log, from `createClient` of `storefront-webhooks/api`. */
  client: RecoveryClient;
  /**
   * The address that the provider sends to, as in the webhook endpoint; or several. Its query counts only if
   * two endpoints differ in nothing else, or if the receiver has a `secret` function: then only deliveries of the
   * shop at `url` count. The log has what was sent to all endpoints of the account, and some may not be yours.
   */
  url: string | readonly string[];
  /** How far back to look: a date, or milliseconds. Default 7 days. */
  since?: Date | number;
  /**
   * How long an answer may be on its way, a retry be late, or a handler run, before a delivery counts as
   * missed. Default 5 minutes.
   */
  pendingAfter?: number;
  /** The most requests per second to the provider's service. Default 5. */
  perSecond?: number;
  /** Called with the progress, as it happens. Default: no call. */
  onProgress?: (progress: RecoveryProgress) => void;
  /** Aborts the run, which rejects with the signal's reason. Without it, the run goes to its end. */
  signal?: AbortSignal;
  /** The current time, for a log whose clock is not this one. Default: the clock of this process. */
  now?: Date;
}

/** The progress of a run. */
export interface RecoveryProgress {
  /**
   * The current step. `log`: reads the log. `orders`: compares the orders. `deliveries`: runs what was
   * missed. `waiting`: the provider is unavailable, and the request will be retried.
   */
  readonly step: 'log' | 'orders' | 'deliveries' | 'waiting';
  readonly done: number;
  /** The total number of pages, deliveries or tries; `undefined` if the provider does not say. */
  readonly of: number | undefined;
  /** In `deliveries`: the delivery that was run last, or would have been. Absent before the first. */
  readonly delivery?: Recovered;
  /** In `waiting`: why the provider is unavailable. The text holds no credentials and nothing that was sent. */
  readonly reason?: string;
}

/** The options of both functions, checked and with their defaults. */
export interface SourceSettings {
  readonly receiver: Recovering;
  readonly client: RecoveryClient;
  readonly urls: readonly string[];
  /** The addresses of other shops, which differ in their query alone. */
  readonly apart: ReadonlySet<string | undefined>;
  /**
   * The scopes of `urls`: the owner of the account chooses the addresses in the log, and must reach no other shop.
   * `undefined` if every address has the same shop.
   */
  readonly scopes: ReadonlySet<string> | undefined;
  readonly since: number;
  readonly now: number;
  readonly pendingAfterMs: number;
  readonly perSecond: number;
  readonly onProgress: (progress: RecoveryProgress) => void;
  readonly signal: AbortSignal | undefined;
  /** The options of each call of the client, which does not retry: `Pace` does. */
  readonly call: { readonly retries: 0; readonly signal?: AbortSignal };
}

/** Returns settings that do not report the errors of users' functions. */
export function withoutErrors({ receiver, ...rest }: SourceSettings): SourceSettings {
  return { ...rest, receiver: { ...receiver, onError() {} } };
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

/**
 * Reads and checks the options that both functions share.
 *
 * @throws {UsageError} `option_invalid`, with what to change.
 */
export function readSourceOptions(
  options: SourceOptions,
  names: readonly string[],
  checks: OptionChecks,
): SourceSettings {
  const isGiven = typeof options === 'object' && options !== null;
  checks.check(isGiven, 'receiver', 'given, with client and url');
  checks.checkNames(options, names);
  const { receiver, client, onProgress = () => {}, signal, now = new Date() } = options;
  const isReceiver = typeof receiver === 'object' && receiver !== null && INTERNALS in receiver;
  checks.check(isReceiver, 'receiver', 'a receiver from createReceiver(), with its handlers');
  checks.check(
    typeof client?.webhookLogs?.list === 'function',
    'client',
    "a client from createClient() of 'storefront-webhooks/api'",
  );
  checks.check(isDate(now), 'now', 'a Date');
  checks.check(typeof onProgress === 'function', 'onProgress', 'a function');
  return {
    receiver: toRecovering(receiver[INTERNALS]),
    client,
    urls: readUrls(options.url, checks),
    apart: new Set(),
    scopes: undefined,
    since: readSince(options.since, now.getTime(), checks),
    now: now.getTime(),
    pendingAfterMs: checks.positive('pendingAfter', options.pendingAfter ?? 5 * 60_000),
    perSecond: checks.positive('perSecond', options.perSecond ?? 5, Number.POSITIVE_INFINITY),
    onProgress,
    signal,
    call: { retries: 0, ...(signal && { signal }) },
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
