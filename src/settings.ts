import { type CommonSettings, hookHint, readCommon } from './common-settings.js';
import { OptionChecks } from './option-checks.js';
import type { ReceiverOptions } from './options.js';
import type { Confirm } from './process/confirm.js';
import type { HandOff } from './process/hand-off.js';
import type { KeyBy } from './request/key.js';
import { type RetiredSecret, type SecretSource, toSecretSource } from './request/secret-source.js';
import type { Unwrap } from './request/unwrap.js';
import { type EventSchemas, eventSchemas } from './schemas/events.js';
import type { StandardSchema } from './schemas/standard-schema.js';

/** The options, checked and complete. */
export interface Settings extends CommonSettings {
  readonly secretSource: SecretSource;
  readonly schemas: ReadonlyMap<string, StandardSchema>;
  /** The scope of all deliveries, where it is one. */
  readonly scope: string | undefined;
  readonly queue: HandOff | undefined;
  readonly confirm: Confirm | undefined;
  readonly keyBy: KeyBy;
  readonly keepMs: number;
  readonly maxAgeMs: number;
  readonly unwrap: Unwrap;
  /** Whether only the header can name the event. */
  readonly needsEvent: boolean;
  /** Whether what was kept of a delivery has the request with it: it may be read again elsewhere. */
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

const DAY_MS = 24 * 60 * 60 * 1000;

const checks = new OptionChecks('createReceiver');

/**
 * @throws {UsageError} `secret_invalid` or `option_invalid`, with what to change.
 */
export function readOptions(options: ReceiverOptions): Settings {
  checks.check(
    typeof options === 'object' && options !== null,
    'secret',
    'given: createReceiver({ secret: process.env.WEBHOOK_SECRET })',
  );
  checks.checkNames(Object.keys(options), NAMES, { hint: hookHint });
  const { keyBy = 'delivery', keepDays = 30, scope = '', unwrap = false } = options;
  const { events = {}, queue, confirm, retiredSecrets = [] } = options;
  checkRetired(retiredSecrets);
  checks.check(
    retiredSecrets.length === 0 || typeof options.secret !== 'function',
    'retiredSecrets',
    "left out with a secret function, which is asked for them with the source 'queue'",
  );
  const common = readCommon(options, checks);
  const secretSource = toSecretSource(options.secret, scope, retiredSecrets);
  checks.check(
    typeof keyBy === 'function' || ['delivery', 'content', 'id'].includes(keyBy),
    'keyBy',
    "'delivery', 'content', 'id', or a function of the payload",
  );
  checks.check(
    typeof keepDays === 'number' && keepDays >= 7,
    'keepDays',
    'a number, at least 7: a delivery that is forgotten can be processed again',
  );
  checks.check(
    typeof unwrap === 'boolean' || typeof unwrap === 'function',
    'unwrap',
    'true, false, or a function of the parsed body, such as ({ event, data }) => ({ event, payload: data })',
  );
  checks.check(
    queue === undefined || isQueue(queue),
    'queue',
    'a durable queue, { durable: true, enqueue }, such as bullmqQueue(…): what is only in memory dies with it',
  );
  checks.check(
    confirm === undefined || typeof confirm === 'function',
    'confirm',
    'what confirmOrders(client) gives, or a function of your own',
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
    (until instanceof Date || (typeof until === 'string' && /^\d{4}-\d\d/.test(until))) &&
    !Number.isNaN(new Date(until).getTime());
  const isOne = (one: RetiredSecret) =>
    isDate(one?.until) && Object.keys(one).every((name) => name === 'secret' || name === 'until');
  checks.check(
    Array.isArray(retired) && retired.every(isOne),
    'retiredSecrets',
    "a list of secrets and dates, such as [{ secret, until: '2026-12-31' }]",
  );
}

function checkEvents(events: EventSchemas): void {
  const isObject = typeof events === 'object' && events !== null && !Array.isArray(events);
  checks.check(isObject, 'events', 'an object of schemas by name');
  for (const [name, schema] of Object.entries(events)) {
    checks.check(
      typeof schema?.['~standard']?.validate === 'function',
      `events[${JSON.stringify(name)}]`,
      'a Standard Schema, such as one of zod',
    );
    checks.check(
      name !== '*' && !name.endsWith(':*') && !name.includes(','),
      'events',
      `names of events, which ${JSON.stringify(name)} cannot be`,
    );
  }
}

function isQueue(queue: HandOff): boolean {
  const { durable, enqueue, redrive } = queue ?? {};
  const redrives = redrive === undefined || typeof redrive === 'function';
  return durable === true && typeof enqueue === 'function' && redrives;
}
