import { UsageError } from './errors.js';
import type { HandOff } from './hand-off.js';
import type { Hooks } from './hooks.js';
import { MAX_TIMER_MS } from './in-time.js';
import type { KeyBy } from './key.js';
import { type EventSchemas, eventSchemas } from './schemas/events.js';
import type { OrderStatus } from './schemas/order.js';
import { type SecretFunction, type SecretSource, toSecretSource } from './secret-source.js';
import type { Secret } from './signature.js';
import type { StandardSchema } from './standard-schema.js';
import { guardStore } from './stores/guard.js';
import { isMemoryStore, memoryStore } from './stores/memory.js';
import { isProxy, reasonToRefuse } from './stores/refused.js';
import type { IdempotencyStore } from './stores/store.js';
import type { Telemetry } from './telemetry.js';

export interface ReceiverOptions<Schemas extends EventSchemas = EventSchemas> {
  /**
   * The account's webhook secret; several while one is being replaced; or a function of the request,
   * for several shops behind one server. `undefined` is allowed by type, for an environment variable. A
   * list leaves it out; where nothing is left, it is refused.
   */
  secret: Secret | readonly (Secret | undefined)[] | SecretFunction | undefined;
  /** Schemas of your own by event name, over or beside those of the specification. Any Standard Schema. */
  events?: Schemas;
  /** What the provider's headers begin with. Default `X-Service-`. */
  headerPrefix?: string;
  /** Where it is remembered which deliveries are done. Default: {@link memoryStore}, for one process. */
  store?: IdempotencyStore;
  /** Hands every verified delivery to a queue, whose worker runs the handlers. */
  queue?: HandOff;
  /**
   * Keeps receivers that share a store apart: each service or shop needs one of its own, or what one has
   * done is done for the others, too. Default: `''`. A `secret` function names its own.
   */
  scope?: string;
  /** What makes two deliveries the same one. Default `'delivery'`. */
  keyBy?: KeyBy;
  /** How long a delivery is remembered, in days. Default 30, at least 7. */
  keepDays?: number;
  /** Order states that `order:paid` may have. Default `[100]`, completed. */
  paidStatuses?: readonly OrderStatus[];
  /**
   * The largest age of a payload by its `updated_at`, in milliseconds; one that states none passes.
   * Default: any age.
   */
  maxAge?: number;
  /** Takes the record out of bodies of the form `{ event, data: { … } }`. Default `false`. */
  unwrap?: boolean;
  /** The largest body, in bytes. Default 1 MiB. */
  limit?: number;
  /** The longest a body may take to arrive, in milliseconds. Default 10 s. */
  bodyTimeout?: number;
  /** The longest the handlers of a delivery may run, in milliseconds. Default 60 s. */
  timeout?: number;
  hooks?: Hooks;
  /** Traces and counts what happens: `openTelemetry()` of `storefront-webhooks/opentelemetry`. */
  telemetry?: Telemetry;
}

/** The options, checked and complete. */
export interface Settings {
  readonly secretSource: SecretSource;
  readonly schemas: ReadonlyMap<string, StandardSchema>;
  readonly headerPrefix: string;
  readonly store: IdempotencyStore;
  /** Whether nobody has chosen the store. */
  readonly isDefaultStore: boolean;
  /** The scope of all deliveries, where it is one. */
  readonly scope: string | undefined;
  readonly queue: HandOff | undefined;
  readonly keyBy: KeyBy;
  readonly keepMs: number;
  readonly paidStatuses: readonly number[];
  readonly maxAgeMs: number;
  readonly unwrap: boolean;
  readonly limit: number;
  readonly bodyTimeoutMs: number;
  readonly timeoutMs: number;
  readonly hooks: Hooks;
  readonly telemetry: Telemetry | undefined;
}

const NAMES = [
  'secret',
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
] as const satisfies (keyof ReceiverOptions)[];

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * @throws {UsageError} `secret_invalid` or `option_invalid`, with what to change.
 */
export function readOptions(options: ReceiverOptions): Settings {
  const { headerPrefix = 'X-Service-', keyBy = 'delivery', keepDays = 30, scope = '' } = options;
  const { events = {}, paidStatuses = [100], store = memoryStore(), queue, telemetry } = options;
  for (const name of Object.keys(options)) {
    const known: readonly string[] = NAMES;
    check(known.includes(name), name, `one of ${NAMES.join(', ')}`);
  }
  const secretSource = toSecretSource(options.secret, scope);

  check(
    /^[\w-]+$/.test(headerPrefix),
    'headerPrefix',
    'the beginning of a header name, such as "X-Service-"',
  );
  check(['delivery', 'content', 'id'].includes(keyBy), 'keyBy', "'delivery', 'content' or 'id'");
  check(
    keepDays >= 7,
    'keepDays',
    'at least 7: a delivery that is forgotten can be processed again',
  );
  check(
    typeof store?.claim === 'function' && !isProxy(store),
    'store',
    `a store such as memoryStore()${reasonToRefuse(store)}`,
  );
  check(
    queue === undefined || (queue?.durable === true && typeof queue.enqueue === 'function'),
    'queue',
    'a durable queue, { durable: true, enqueue }, such as bullmqQueue(…): what is only in memory dies with it',
  );
  check(
    telemetry === undefined || typeof telemetry?.delivery === 'function',
    'telemetry',
    'what openTelemetry() gives',
  );
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

  return {
    secretSource,
    schemas: new Map<string, StandardSchema>([
      ...Object.entries(eventSchemas),
      ...Object.entries(events),
    ]),
    headerPrefix: headerPrefix.toLowerCase(),
    store: isMemoryStore(store) ? store : guardStore(store),
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
    unwrap: options.unwrap ?? false,
    limit: positive('limit', options.limit ?? 1024 * 1024),
    bodyTimeoutMs: positive('bodyTimeout', options.bodyTimeout ?? 10_000),
    timeoutMs: positive('timeout', options.timeout ?? 60_000),
    hooks: options.hooks ?? {},
    telemetry,
  };
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
