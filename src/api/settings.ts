import { isLoopback, parseAddress } from '../address.js';
import { UsageError } from '../errors.js';
import { findUnknownOption } from '../report/text.js';
import { toText, toUtf8 } from '../request/bytes.js';
import { MAX_TIMER_MS } from '../timing.js';
import type { Variant } from './endpoint.js';
import type { Fetch } from './exchange.js';

/** What the account is known by: a token (newer variant), or its email and API key (older variant). */
export type ClientAuth =
  | { readonly accessToken: string | undefined }
  | { readonly email: string | undefined; readonly apiKey: string | undefined };

/** What {@link createClient} takes. Times are milliseconds. */
export interface ClientOptions<V extends Variant = Variant> {
  /** Where the storefront is, such as `https://shop.example`, without `/api/v2`. HTTPS, but on this machine. */
  baseUrl: string;
  /**
   * The credentials: `{ accessToken }` or `{ email, apiKey }`. `undefined` is allowed by type, for an
   * environment variable, and refused.
   */
  auth: ClientAuth;
  /** Which shape products have. Default `'newer'`. */
  variant?: V;
  /** The longest that one try may take, its answer included. Default 30 s. */
  timeout?: number;
  /**
   * How often a GET, PUT or DELETE is tried again after 429, 503, a time-out or a broken connection; a POST
   * never is. The pauses grow, and are not shorter than `Retry-After` says; more than a minute of it is not
   * waited for. Default 2, at most 10.
   */
  retries?: number;
  /** Sends the requests, for a proxy or a test. Default: the `fetch` of the runtime. */
  fetch?: Fetch;
}

/** The options, checked and complete. */
export interface ClientSettings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly authorization: string;
  /** What no error may hold. */
  readonly secrets: readonly string[];
  readonly variant: Variant;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fetch: Fetch;
}

const NAMES = [
  'baseUrl',
  'auth',
  'variant',
  'timeout',
  'retries',
  'fetch',
] as const satisfies (keyof ClientOptions)[];

/** @throws {UsageError} `option_invalid`, with what to change. */
export function readClientOptions(options: ClientOptions): ClientSettings {
  check(typeof options === 'object' && options !== null, 'baseUrl', 'given');
  const unknown = findUnknownOption('createClient', options, NAMES);
  if (unknown) throw unknown;
  const { variant = 'newer', timeout = 30_000, retries = 2, fetch } = options;
  check(variant === 'newer' || variant === 'older', 'variant', "'newer' or 'older'");
  check(
    typeof timeout === 'number' && timeout > 0 && timeout <= MAX_TIMER_MS,
    'timeout',
    `milliseconds above 0, and at most ${MAX_TIMER_MS}`,
  );
  check(
    Number.isSafeInteger(retries) && retries >= 0 && retries <= 10,
    'retries',
    'a whole number from 0 to 10',
  );
  check(fetch === undefined || typeof fetch === 'function', 'fetch', 'a function');
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    ...readAuth(options.auth),
    variant,
    timeoutMs: timeout,
    retries,
    // Looked up for each call, so that what replaces it later is used.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
  };
}

function readBaseUrl(baseUrl: unknown): string {
  const url = typeof baseUrl === 'string' ? parseAddress(baseUrl) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  check(
    url !== undefined && isHttp && url.search + url.hash + url.username + url.password === '',
    'baseUrl',
    'a whole address without credentials, query or hash, such as https://shop.example',
  );
  check(
    url.protocol === 'https:' || isLoopback(url),
    'baseUrl',
    'an https: address: over http:, everybody on the way could read the credentials',
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
  return { authorization: `Basic ${basic}`, secrets: [basic, apiKey] };
}

// What becomes of a value that was made into text and was none.
const NONE = /^(?:undefined|null|NaN|true|false|\[object \w+\])$/;

function checkCredential(value: unknown, name: string, form: RegExp): asserts value is string {
  check(
    typeof value === 'string' && form.test(value) && !NONE.test(value),
    name,
    'set, and without white space, as from a line end that was pasted with it; check the environment variable that it comes from',
  );
}

function check(condition: boolean, option: string, expected: string): asserts condition {
  if (!condition) {
    throw new UsageError(
      'option_invalid',
      `createClient: the option ${option} has to be ${expected}.`,
    );
  }
}
