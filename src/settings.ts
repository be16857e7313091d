import { UsageError } from './errors.js';
import type { ReceiverOptions } from './options.js';
import type { HandOff } from './process/hand-off.js';
import type { Hooks } from './report/hooks.js';
import type { Telemetry } from './report/telemetry.js';
import { didYouMean } from './report/text.js';
import type { KeyBy } from './request/key.js';
import { type HeaderNames, toHeaderNames } from './request/request.js';
import { type RetiredSecret, type SecretSource, toSecretSource } from './request/secret-source.js';
import type { Unwrap } from './request/unwrap.js';
import { type EventSchemas, eventSchemas } from './schemas/events.js';
import type { OrderStatus } from './schemas/order.js';
import type { StandardSchema } from './schemas/standard-schema.js';
import { VERBS } from './stores/forward.js';
import { guardStore } from './stores/guard.js';
import { memoryBehind, memoryStore } from './stores/memory.js';
import { hasMethods } from './stores/methods.js';
import { isProxy, reasonToRefuse, whatStoreIs } from './stores/refused.js';
import type { IdempotencyStore } from './stores/store.js';
import { MAX_TIMER_MS } from './timing.js';

/** The options, checked and complete. */
export interface Settings {
  readonly secretSource: SecretSource;
  readonly schemas: ReadonlyMap<string, StandardSchema>;
  readonly headerNames: HeaderNames;
  readonly store: IdempotencyStore;
  /** Whether nobody has chosen the store. */
  readonly isDefaultStore: boolean;
  /** The scope of all deliveries, where it is one. */
  readonly scope: string | undefined;
  readonly queue: HandOff | undefined;
  readonly keyBy: KeyBy;
  readonly keepMs: number;
  readonly paidStatuses: readonly OrderStatus[];
  readonly maxAgeMs: number;
  readonly unwrap: Unwrap;
  /** Whether what was kept of a delivery has the request with it: it may be read again elsewhere. */
  readonly keepsRequest: boolean;
  readonly limit: number;
  readonly bodyTimeoutMs: number;
  readonly timeoutMs: number;
  readonly hooks: Hooks;
  readonly telemetry: Telemetry | undefined;
  readonly debug: boolean;
}

const NAMES = [
  'secret',
  'retiredSecrets',
  'events',
  'headerPrefix',
  'store',
  'queue',
  'scope',
  'keyBy',
  'keepDays',
  'paidStatuses',
  'maxAge',
  'unwrap',
  'limit',
  'bodyTimeout',
  'timeout',
  'hooks',
  'telemetry',
  'debug',
] as const satisfies (keyof ReceiverOptions)[];

const HOOKS = ['onOutcome', 'onRejected', 'onError'] as const satisfies (keyof Hooks)[];

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * @throws {UsageError} `secret_invalid` or `option_invalid`, with what to change.
 */
export function readOptions(options: ReceiverOptions): Settings {
  check(
    typeof options === 'object' && options !== null,
    'secret',
    'given: createReceiver({ secret: process.env.WEBHOOK_SECRET })',
  );
  checkNames(Object.keys(options), NAMES, '');
  const { headerPrefix = 'X-Service-', keyBy = 'delivery', keepDays = 30, scope = '' } = options;
  const { events = {}, paidStatuses = [100], store = memoryStore(), queue, telemetry } = options;
  const { hooks = {}, unwrap = false, debug = isDebugged(), retiredSecrets = [] } = options;
  check(typeof scope === 'string', 'scope', 'a string, such as the name of the shop');
  checkRetired(retiredSecrets);
  check(
    retiredSecrets.length === 0 || typeof options.secret !== 'function',
    'retiredSecrets',
    "left out with a secret function, which is asked for them with the source 'queue'",
  );
  const secretSource = toSecretSource(options.secret, scope, retiredSecrets);

  check(
    typeof headerPrefix === 'string' && /^[\w-]+-$/.test(headerPrefix),
    'headerPrefix',
    `the beginning of a header name with the dash that ends it, such as '${prefixLike(headerPrefix)}'`,
  );
  check(
    typeof keyBy === 'function' || ['delivery', 'content', 'id'].includes(keyBy),
    'keyBy',
    "'delivery', 'content', 'id', or a function of the payload",
  );
  check(
    typeof keepDays === 'number' && keepDays >= 7,
    'keepDays',
    'a number, at least 7: a delivery that is forgotten can be processed again',
  );
  check(
    Array.isArray(paidStatuses) &&
      paidStatuses.length > 0 &&
      paidStatuses.every((status) => Number.isSafeInteger(status) || isWord(status)),
    'paidStatuses',
    "a list of the order states that mean paid, each a whole number or a text, such as [100] or ['COMPLETED']",
  );
  check(
    typeof unwrap === 'boolean' || typeof unwrap === 'function',
    'unwrap',
    'true, false, or a function of the parsed body, such as ({ event, data }) => ({ event, payload: data })',
  );
  check(typeof debug === 'boolean', 'debug', 'true or false');
  check(
    hasMethods(store, ...VERBS) && !isProxy(store),
    'store',
    `a store such as memoryStore()${whatStoreIs(store)}${reasonToRefuse(store)}`,
  );
  check(
    queue === undefined || isQueue(queue),
    'queue',
    'a durable queue, { durable: true, enqueue }, such as bullmqQueue(…): what is only in memory dies with it',
  );
  check(
    telemetry === undefined || typeof telemetry?.delivery === 'function',
    'telemetry',
    'what openTelemetry() gives',
  );
  checkHooks(hooks);
  checkEvents(events);

  return {
    secretSource,
    schemas: new Map<string, StandardSchema>([
      ...Object.entries(eventSchemas),
      ...Object.entries(events),
    ]),
    headerNames: toHeaderNames(headerPrefix),
    store: memoryBehind(store) ?? guardStore(store),
    isDefaultStore: options.store === undefined,
    scope: typeof options.secret === 'function' ? undefined : scope,
    queue,
    keyBy,
    keepMs: keepDays * DAY_MS,
    paidStatuses,
    maxAgeMs: positive(
      'maxAge',
      options.maxAge ?? Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ),
    unwrap,
    keepsRequest: secretSource.asksRequest || queue !== undefined || store.durable,
    limit: atLeastOne('limit', options.limit ?? 1024 * 1024),
    bodyTimeoutMs: positive('bodyTimeout', options.bodyTimeout ?? 10_000),
    timeoutMs: positive('timeout', options.timeout ?? 60_000),
    hooks,
    telemetry,
    debug,
  };
}

function checkRetired(retired: unknown): void {
  const isDate = (until: unknown) =>
    (until instanceof Date || (typeof until === 'string' && /^\d{4}-\d\d/.test(until))) &&
    !Number.isNaN(new Date(until).getTime());
  const isOne = (one: RetiredSecret) =>
    isDate(one?.until) && Object.keys(one).every((name) => name === 'secret' || name === 'until');
  check(
    Array.isArray(retired) && retired.every(isOne),
    'retiredSecrets',
    "a list of secrets and dates, such as [{ secret, until: '2026-12-31' }]",
  );
}

function checkNames(given: readonly string[], known: readonly string[], of: string): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = [...HOOKS].find((hook) => hook === unknown)
    ? `It belongs into hooks: { ${unknown} }. `
    : didYouMean(unknown, known);
  throw new UsageError(
    'option_invalid',
    `createReceiver: there is no option ${of}${unknown}. ${meant}There are ${known.join(', ')}.`,
  );
}

function checkHooks(hooks: unknown): void {
  check(typeof hooks === 'object' && hooks !== null, 'hooks', 'an object of functions');
  checkNames(Object.keys(hooks ?? {}), HOOKS, 'hooks.');
  for (const [name, hook] of Object.entries(hooks ?? {})) {
    check(hook === undefined || typeof hook === 'function', `hooks.${name}`, 'a function');
  }
}

function checkEvents(events: EventSchemas): void {
  const isObject = typeof events === 'object' && events !== null && !Array.isArray(events);
  check(isObject, 'events', 'an object of schemas by name');
  for (const [name, schema] of Object.entries(events)) {
    check(
      typeof schema?.['~standard']?.validate === 'function',
      `events[${JSON.stringify(name)}]`,
      'a Standard Schema, such as one of zod',
    );
    check(
      name !== '*' && !name.endsWith(':*') && !name.includes(','),
      'events',
      `names of events, which ${JSON.stringify(name)} cannot be`,
    );
  }
}

function isWord(text: unknown): boolean {
  return typeof text === 'string' && text !== '';
}

function isQueue(queue: HandOff): boolean {
  const { durable, enqueue, redrive } = queue ?? {};
  const redrives = redrive === undefined || typeof redrive === 'function';
  return durable === true && typeof enqueue === 'function' && redrives;
}

/** What was meant by a prefix without its dash, or by the name of a whole header. */
function prefixLike(given: unknown): string {
  const text = typeof given === 'string' ? given : '';
  const name = /^([\w-]*?)-*(?:signature|event|webhook)?$/i.exec(text)?.[1];
  return `${name || 'X-Service'}-`;
}

/** Whether the environment asks for every delivery to be told, in the way of the package `debug`. */
function isDebugged(): boolean {
  try {
    // Deno asks a person before it tells anything of its environment.
    const isAsked = 'Deno' in globalThis;
    const names = isAsked ? '' : (globalThis.process?.env?.DEBUG ?? '');
    return names.split(/[\s,]+/).some((name) => name === '*' || name === 'storefront-webhooks');
  } catch {
    return false;
  }
}

function atLeastOne(name: string, value: number): number {
  check(Number.isSafeInteger(value) && value >= 1, name, 'a whole number from 1 on');
  return value;
}

function positive(name: string, value: number, max = MAX_TIMER_MS): number {
  check(
    typeof value === 'number' && value > 0 && value <= max,
    name,
    max === Number.POSITIVE_INFINITY ? 'a number above 0' : `a number above 0, and at most ${max}`,
  );
  return value;
}

function check(condition: boolean, option: string, expected: string): void {
  if (!condition) {
    throw new UsageError(
      'option_invalid',
      `createReceiver: the option ${option} has to be ${expected}.`,
    );
  }
}
