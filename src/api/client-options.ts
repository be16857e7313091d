import { OptionChecks } from '../errors/option-checks.js';
import { isLoopback, parseAddress } from '../runtime/address.js';
import { toText, toUtf8 } from '../runtime/bytes.js';
import type { ApiAttempt, CallOptions } from './call-options.js';
import type { Variant } from './endpoint.js';
import type { Fetch } from './fetch.js';

/** The credentials of the account: a token (newer variant), or its email and API key (older variant). */
export type ClientAuth =
  | { readonly accessToken: string | undefined }
  | { readonly email: string | undefined; readonly apiKey: string | undefined };

/** Options of {@link createClient}. Times are milliseconds. */
export interface ClientOptions<V extends Variant = Variant> {
  /**
   * The address of the storefront, such as `https://shop.example`, without `/api/v2`. HTTPS, except on this
   * machine.
   */
  baseUrl: string;
  /**
   * The credentials: `{ accessToken }` or `{ email, apiKey }`. Their types allow `undefined`, so that you can
   * pass an environment variable, but `createClient` rejects it.
   */
  auth: ClientAuth;
  /** The shape of products that the provider's service uses. Default `'newer'`. */
  variant?: V;
  /** The longest time that one try may take, including its answer. Default 30 s. */
  timeout?: number;
  /**
   * How often a call is retried, at most 10 times. A GET, PUT or DELETE is retried after 429, any 5xx except
   * 501, a time-out or a broken connection. A POST is retried only if the provider cannot have carried it
   * out: after 429, or if no connection was made. The same holds for an update of a product that sets `info`,
   * `stock_amount` or a parameter that the specification does not name: a second one could put sold items back
   * in stock. The pauses grow, and are never shorter than `Retry-After`; if that is more than a minute, the
   * call is not retried. Default 2.
   */
  retries?: number;
  /**
   * Called after each try, for logs and metrics, with the operation, the number of the try, and the status.
   * An error that it throws is ignored. Default: nothing is called.
   */
  onAttempt?: (attempt: ApiAttempt) => void;
  /** Sends the requests, for a proxy or a test. Default: the `fetch` of the runtime. */
  fetch?: Fetch;
}

/** The options, checked and with their defaults. */
export interface ClientSettings {
  /** The address of the provider's service, without a slash at its end. */
  readonly baseUrl: string;
  readonly authorization: string;
  /** Texts that no error may hold. */
  readonly secrets: readonly string[];
  readonly variant: Variant;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly watchers: readonly ((attempt: ApiAttempt) => void)[];
  readonly fetch: Fetch;
}

const NAMES = [
  'baseUrl',
  'auth',
  'variant',
  'timeout',
  'retries',
  'onAttempt',
  'fetch',
] as const satisfies (keyof ClientOptions)[];

/**
 * Reads and checks the options of a client.
 *
 * @throws {UsageError} `option_invalid`, with what to change.
 */
export function readClientOptions(options: ClientOptions): ClientSettings {
  check(typeof options === 'object' && options !== null, 'baseUrl', 'given');
  checks.checkNames(options, NAMES);
  const { variant = 'newer', fetch } = options;
  check(variant === 'newer' || variant === 'older', 'variant', "'newer' or 'older'");
  check(fetch === undefined || typeof fetch === 'function', 'fetch', 'a function');
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    ...readAuth(options.auth),
    variant,
    ...readTerms(checks, options, { timeoutMs: 30_000, retries: 2, watchers: [] }),
    // Look `fetch` up for each call, so that a later replacement is used.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
  };
}

type Terms = Pick<ClientSettings, 'timeoutMs' | 'retries' | 'watchers'>;

/**
 * Returns how often and how long a call is tried, and its hooks: from its own options, otherwise from the
 * client's.
 *
 * @throws {UsageError} `option_invalid`
 */
export function readTerms(
  checks: OptionChecks,
  { timeout, retries, onAttempt }: Omit<CallOptions, 'signal'>,
  client: Terms,
): Terms {
  const times = retries ?? client.retries;
  const isCount = Number.isSafeInteger(times) && times >= 0 && times <= 10;
  checks.check(isCount, 'retries', 'a whole number from 0 to 10');
  const isHook = onAttempt === undefined || typeof onAttempt === 'function';
  checks.check(isHook, 'onAttempt', 'a function');
  return {
    timeoutMs: checks.positive('timeout', timeout ?? client.timeoutMs),
    retries: times,
    watchers: onAttempt ? [...client.watchers, onAttempt] : client.watchers,
  };
}

function readBaseUrl(baseUrl: unknown): string {
  const url = typeof baseUrl === 'string' ? parseAddress(baseUrl) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  check(
    // `search` and `hash` are empty also for an address that ends in ? or #.
    url !== undefined && isHttp && !/[?#]/.test(url.href) && url.username + url.password === '',
    'baseUrl',
    'a whole address without credentials, query or hash, such as https://shop.example',
  );
  check(
    url.protocol === 'https:' || isLoopback(url),
    'baseUrl',
    'an https: address: over http:, anyone on the network path could read the credentials',
  );
  const base = url.href.replace(/\/+$/, '');
  check(!/\/api(\/v\d+)?$/.test(base), 'baseUrl', 'without /api/v2, which the client adds');
  return base;
}

function readAuth(auth: unknown): Pick<ClientSettings, 'authorization' | 'secrets'> {
  const given: Readonly<Record<string, unknown>> = typeof auth === 'object' ? { ...auth } : {};
  const { accessToken, email, apiKey } = given;
  const names = Object.keys(given).sort().join();
  check(
    names === 'accessToken' || names === 'apiKey,email',
    'auth',
    '{ accessToken } or { email, apiKey }',
  );
  if (names === 'accessToken') {
    checkCredential(accessToken, 'auth.accessToken', /^[\x21-\x7e]+$/);
    return { authorization: `Bearer ${accessToken}`, secrets: [accessToken] };
  }
  checkCredential(email, 'auth.email', /^[^\s:\p{Cc}]+$/u);
  checkCredential(apiKey, 'auth.apiKey', /^[^\s\p{Cc}]+$/u);
  const basic = btoa(toText(toUtf8(`${email}:${apiKey}`)));
  return { authorization: `Basic ${basic}`, secrets: [basic, apiKey, email] };
}

// The texts of values that are not text, such as "undefined".
const NONE = /^(?:undefined|null|NaN|true|false|\[object \w+\])$/;

function checkCredential(value: unknown, name: string, form: RegExp): asserts value is string {
  check(
    typeof value === 'string' && form.test(value) && !NONE.test(value),
    name,
    'set, and without white space, such as a line end that was pasted with it; check the environment variable that it comes from',
  );
}

const checks = new OptionChecks('createClient');

function check(condition: boolean, option: string, expected: string): asserts condition {
  checks.check(condition, option, expected);
}
