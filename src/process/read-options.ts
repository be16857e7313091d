import { OptionChecks } from '../errors/option-checks.js';
import type { Hooks } from '../report/hooks.js';
import type { Telemetry } from '../report/telemetry.js';
import type { KeyBy } from '../request/key.js';
import { type HeaderNames, toHeaderNames } from '../request/request.js';
import { type RetiredSecret, type SecretSource, toSecretSource } from '../request/secrets.js';
import type { Unwrap } from '../request/unwrap.js';
import { type EventSchemas, eventSchemas } from '../schemas/events.js';
import type { OrderStatus } from '../schemas/order.js';
import type { StandardSchema } from '../schemas/standard-schema.js';
import { isJsonObject, toTime } from '../schemas/values.js';
import { VERBS } from '../stores/contract.js';
import { guardStore } from '../stores/guard.js';
import { memoryBehind, memoryStore } from '../stores/memory.js';
import { hasMethods, isProxy, reasonToRefuse, whatStoreIs } from '../stores/platform.js';
import type { IdempotencyStore } from '../stores/store.js';
import type { Confirm } from './confirm.js';
import type { ReceiverOptions } from './options.js';
import type { HandOff } from './queue.js';

/** The options of a receiver, checked and with their defaults. */
export interface Settings extends CommonSettings {
  readonly secretSource: SecretSource;
  readonly schemas: ReadonlyMap<string, StandardSchema>;
  /** The scope of all deliveries; `undefined` if a `secret` function returns the scope. */
  readonly scope: string | undefined;
  readonly queue: HandOff | undefined;
  readonly confirm: Confirm | undefined;
  readonly keyBy: KeyBy;
  readonly keepMs: number;
  readonly maxAgeMs: number;
  readonly unwrap: Unwrap;
  /** Whether only the header can name the event. */
  readonly needsEvent: boolean;
  /** Whether to keep the request with a delivery, which may be processed later or elsewhere. */
  readonly keepsRequest: boolean;
}

const NAMES = [
  'secret',
  'retiredSecrets',
  'events',
  'headerPrefix',
  'store',
  'queue',
  'scope',
  'confirm',
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

const DAY_MS = 86_400_000;

const checks = new OptionChecks('createReceiver');

/**
 * @throws {UsageError} `secret_invalid` or `option_invalid`, with what to change.
 */
export function readOptions(options: ReceiverOptions<EventSchemas>): Settings {
  checks.check(
    isJsonObject(options),
    'secret',
    'given: createReceiver({ secret: process.env.WEBHOOK_SECRET })',
  );
  checks.checkNames(options, NAMES, { hint: hookHint });
  const { keyBy = 'delivery', keepDays = 30, scope = '', unwrap = false } = options;
  const { events = {}, queue, confirm, retiredSecrets = [] } = options;
  checkRetired(retiredSecrets);
  checks.check(
    retiredSecrets.length === 0 || typeof options.secret !== 'function',
    'retiredSecrets',
    "left out if secret is a function, which returns them for source 'queue'",
  );
  const common = readCommon(options, checks);
  const { limit, store } = common;
  const { maxBodyBytes = limit } = store;
  checks.check(limit <= maxBodyBytes, 'limit', `at most ${maxBodyBytes}, all that the store holds`);
  const secretSource = toSecretSource(options.secret, scope, retiredSecrets);
  checks.check(
    typeof keyBy === 'function' || ['delivery', 'content', 'id'].includes(keyBy),
    'keyBy',
    "'delivery', 'content', 'id', or a function of the payload",
  );
  checks.check(
    typeof keepDays === 'number' && keepDays >= 7,
    'keepDays',
    'a number of at least 7: a forgotten delivery can run again',
  );
  checks.check(
    typeof unwrap === 'boolean' || typeof unwrap === 'function',
    'unwrap',
    'true, false, or a function that returns { event, payload }',
  );
  checks.check(
    queue === undefined || isQueue(queue),
    'queue',
    'a durable queue, { durable: true, enqueue }, such as bullmqQueue(…)',
  );
  checks.check(
    confirm === undefined || typeof confirm === 'function',
    'confirm',
    'confirmOrders(client), or a function of your own',
  );
  checkEvents(events);
  const maxAge = options.maxAge ?? Number.POSITIVE_INFINITY;
  return {
    ...common,
    secretSource,
    schemas: new Map<string, StandardSchema>([
      ...Object.entries(eventSchemas),
      ...Object.entries(events),
    ]),
    scope: typeof options.secret === 'function' ? undefined : scope,
    queue,
    confirm,
    keyBy,
    keepMs: keepDays * DAY_MS,
    maxAgeMs: checks.positive('maxAge', maxAge, Number.POSITIVE_INFINITY),
    unwrap,
    needsEvent: !unwrap,
    keepsRequest: secretSource.asksRequest || queue !== undefined || common.store.durable,
  };
}

function checkRetired(retired: unknown): void {
  const isDate = (until: unknown) =>
    (until instanceof Date || /^\d{4}-\d\d/.test(String(until))) && toTime(until) < 9e15;
  const isOne = (one: RetiredSecret) =>
    isDate(one?.until) && Object.keys(one).every((name) => /^(secret|until)$/.test(name));
  checks.check(
    Array.isArray(retired) && retired.every(isOne),
    'retiredSecrets',
    "a list of secrets and dates, such as [{ secret, until: '2026-12-31' }]",
  );
}

function checkEvents(events: EventSchemas): void {
  checks.check(isJsonObject(events), 'events', 'an object of schemas by name');
  for (const [name, schema] of Object.entries(events)) {
    checks.check(
      typeof schema?.['~standard']?.validate === 'function',
      `events[${JSON.stringify(name)}]`,
      'a Standard Schema, such as a zod schema',
    );
    checks.check(
      !/(^|:)\*$|,/.test(name),
      'events',
      `names of events, not ${JSON.stringify(name)}`,
    );
  }
}

function isQueue(queue: HandOff): boolean {
  const { durable, enqueue, redrive } = queue ?? {};
  const redrives = redrive === undefined || typeof redrive === 'function';
  return durable === true && typeof enqueue === 'function' && redrives;
}

/** The options that `createReceiver` and `createGoods` share. */
export type CommonOptions = Pick<
  ReceiverOptions,
  | 'headerPrefix'
  | 'store'
  | 'scope'
  | 'paidStatuses'
  | 'limit'
  | 'bodyTimeout'
  | 'timeout'
  | 'hooks'
  | 'telemetry'
  | 'debug'
>;

/** The shared options, checked and with their defaults. */
export interface CommonSettings {
  readonly headerNames: HeaderNames;
  readonly store: IdempotencyStore;
  /** Whether the `store` option is missing. */
  readonly isDefaultStore: boolean;
  readonly paidStatuses: readonly OrderStatus[];
  readonly limit: number;
  readonly bodyTimeoutMs: number;
  readonly timeoutMs: number;
  readonly hooks: Hooks;
  readonly telemetry: Telemetry | undefined;
  readonly debug: boolean;
}

const HOOKS = ['onOutcome', 'onRejected', 'onError'] as const satisfies (keyof Hooks)[];

/** Returns advice to move the option into `hooks`, if it has the name of a hook; otherwise `undefined`. */
export function hookHint(name: string): string | undefined {
  return HOOKS.some((hook) => hook === name) ? `Pass it as hooks: { ${name} }. ` : undefined;
}

/** @throws {UsageError} `option_invalid`, with what to change. */
export function readCommon(options: CommonOptions, checks: OptionChecks): CommonSettings {
  const { headerPrefix = 'X-Service-', scope = '', store = memoryStore() } = options;
  const { paidStatuses = [100], hooks = {}, telemetry, debug = isDebugged() } = options;
  checks.check(typeof scope === 'string', 'scope', 'a string, such as the name of the shop');
  checks.check(
    typeof headerPrefix === 'string' && /^[\w-]+-$/.test(headerPrefix),
    'headerPrefix',
    `the prefix of the provider's headers, including the dash at its end, such as '${prefixLike(headerPrefix)}'`,
  );
  checks.check(
    Array.isArray(paidStatuses) &&
      paidStatuses.length > 0 &&
      paidStatuses.every((status) => Number.isSafeInteger(status) || isWord(status)),
    'paidStatuses',
    "a list of the order states that mean paid, such as [100] or ['COMPLETED']",
  );
  checks.check(typeof debug === 'boolean', 'debug', 'true or false');
  checks.check(
    hasMethods(store, ...VERBS) && !isProxy(store),
    'store',
    `a store such as memoryStore()${whatStoreIs(store)}${reasonToRefuse(store)}`,
  );
  checks.check(
    telemetry === undefined || typeof telemetry?.delivery === 'function',
    'telemetry',
    'openTelemetry()',
  );
  checkHooks(hooks, checks);
  return {
    headerNames: toHeaderNames(headerPrefix),
    store: memoryBehind(store) ?? guardStore(store),
    isDefaultStore: options.store === undefined,
    paidStatuses,
    limit: checks.atLeastOne('limit', options.limit ?? 1024 * 1024),
    bodyTimeoutMs: checks.positive('bodyTimeout', options.bodyTimeout ?? 10_000),
    timeoutMs: checks.positive('timeout', options.timeout ?? 60_000),
    hooks,
    telemetry,
    debug,
  };
}

function checkHooks(hooks: unknown, checks: OptionChecks): void {
  checks.check(isJsonObject(hooks), 'hooks', 'an object of functions');
  checks.checkNames(hooks ?? {}, HOOKS, { of: 'hooks.' });
  for (const [name, hook] of Object.entries(hooks ?? {})) {
    const isHook = hook === undefined || typeof hook === 'function';
    checks.check(isHook, `hooks.${name}`, 'a function');
  }
}

function isWord(text: unknown): boolean {
  return typeof text === 'string' && text !== '';
}

/** Guesses the intended prefix from one without its dash, or from the name of a whole header. */
function prefixLike(given: unknown): string {
  const text = typeof given === 'string' ? given : '';
  const name = /^([\w-]*?)-*(?:signature|event|webhook)?$/i.exec(text)?.[1];
  return `${name || 'X-Service'}-`;
}

/** Whether the environment variable `DEBUG` enables debug logging, as with the package `debug`. */
function isDebugged(): boolean {
  try {
    // On Deno, reading the environment would prompt the user for permission.
    const isAsked = 'Deno' in globalThis;
    const names = isAsked ? '' : (globalThis.process?.env?.DEBUG ?? '');
    return names.split(/[\s,]+/).some((name) => name === '*' || name === 'storefront-webhooks');
  } catch {
    return false;
  }
}
