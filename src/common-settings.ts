import type { OptionChecks } from './option-checks.js';
import type { ReceiverOptions } from './options.js';
import type { Hooks } from './report/hooks.js';
import type { Telemetry } from './report/telemetry.js';
import { type HeaderNames, toHeaderNames } from './request/request.js';
import type { OrderStatus } from './schemas/order.js';
import { VERBS } from './stores/forward.js';
import { guardStore } from './stores/guard.js';
import { memoryBehind, memoryStore } from './stores/memory.js';
import { hasMethods } from './stores/methods.js';
import { isProxy, reasonToRefuse, whatStoreIs } from './stores/refused.js';
import type { IdempotencyStore } from './stores/store.js';

/** The options that a receiver and goods have alike. */
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

/** The common options, checked and complete. */
export interface CommonSettings {
  readonly headerNames: HeaderNames;
  readonly store: IdempotencyStore;
  /** Whether nobody has chosen the store. */
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

/** Says of a hook that was given as an option where it belongs. */
export function hookHint(name: string): string | undefined {
  return HOOKS.some((hook) => hook === name) ? `It belongs into hooks: { ${name} }. ` : undefined;
}

/** @throws {UsageError} `option_invalid`, with what to change. */
export function readCommon(options: CommonOptions, checks: OptionChecks): CommonSettings {
  const { headerPrefix = 'X-Service-', scope = '', store = memoryStore() } = options;
  const { paidStatuses = [100], hooks = {}, telemetry, debug = isDebugged() } = options;
  checks.check(typeof scope === 'string', 'scope', 'a string, such as the name of the shop');
  checks.check(
    typeof headerPrefix === 'string' && /^[\w-]+-$/.test(headerPrefix),
    'headerPrefix',
    `the beginning of a header name with the dash that ends it, such as '${prefixLike(headerPrefix)}'`,
  );
  checks.check(
    Array.isArray(paidStatuses) &&
      paidStatuses.length > 0 &&
      paidStatuses.every((status) => Number.isSafeInteger(status) || isWord(status)),
    'paidStatuses',
    "a list of the order states that mean paid, each a whole number or a text, such as [100] or ['COMPLETED']",
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
    'what openTelemetry() gives',
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
  checks.check(typeof hooks === 'object' && hooks !== null, 'hooks', 'an object of functions');
  checks.checkNames(Object.keys(hooks ?? {}), HOOKS, { of: 'hooks.' });
  for (const [name, hook] of Object.entries(hooks ?? {})) {
    const isHook = hook === undefined || typeof hook === 'function';
    checks.check(isHook, `hooks.${name}`, 'a function');
  }
}

function isWord(text: unknown): boolean {
  return typeof text === 'string' && text !== '';
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
