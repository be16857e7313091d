import { Rejection } from '../outcome.js';
import type { Issue } from '../schemas/issue.js';
import { isJsonObject } from '../schemas/json.js';
import { describeStatus } from '../schemas/order.js';
import { type Reading, type ResourceSchema, VENDOR } from '../schemas/resource.js';
import type { StandardIssue, StandardSchema } from '../schemas/standard-schema.js';
import { withTimeout } from '../timing.js';
import { contentId, contentOf, deliveryKey, headerText, invalidKey, type KeyBy } from './key.js';

/** A delivery as a store or a queue keeps it: verified, and all that is needed to process it later. */
export interface SealedDelivery {
  /** The idempotency key: 64 hexadecimal digits. */
  readonly key: string;
  readonly scope: string;
  readonly id: string;
  readonly event: string;
  /** The raw body. */
  readonly body: Uint8Array;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /**
   * What proves the body when it is processed later: the signature as it came and, for a `secret`
   * function, the request. Opaque; whatever keeps the body keeps this beside it.
   */
  readonly proof?: string | undefined;
  /** The W3C trace context of its hand-off to a queue. Stores do not keep it. */
  readonly traceparent?: string | undefined;
}

/** Where a delivery came from. */
export type DeliverySource = 'webhook' | 'queue';

/** A verified delivery, read. */
export interface Delivery {
  /** A delivery has no outcome yet; what was refused has one. */
  readonly outcome?: undefined;
  /**
   * `known`: the payload fits its event. `unknown`: nobody has named this event. `invalid`: the payload
   * fails its schema or contradicts its event, and {@link issues} says how.
   */
  readonly kind: 'known' | 'unknown' | 'invalid';
  /** The idempotency key: 64 hexadecimal digits. */
  readonly key: string;
  /** What the payload states, as it went into the key. */
  readonly content: string;
  /** Which shop or receiver it is for. */
  readonly scope: string;
  /** The id of the webhook log, as the sender claims; begins with `content:` where none was sent. */
  readonly id: string;
  /** The event, as the sender claims. */
  readonly event: string;
  readonly payload: unknown;
  /** Fields that did not fit and were left `undefined`; what is wrong, where `kind` is `invalid`. */
  readonly issues: readonly Issue[];
  /** The body as received. */
  readonly rawBody: Uint8Array;
  readonly receivedAt: Date;
  readonly source: DeliverySource;
  /** By what a worker proves it again. Opaque. */
  readonly proof: string | undefined;
}

/** How verified bytes are read. */
export interface ReadingRules {
  readonly schemas: ReadonlyMap<string, StandardSchema>;
  readonly keyBy: KeyBy;
  readonly unwrap: boolean;
  readonly paidStatuses: readonly number[];
  readonly maxAgeMs: number;
}

/** What is known of a delivery beside its bytes. */
export interface Envelope {
  readonly scope: string;
  readonly id: string | undefined;
  readonly event: string;
  readonly receivedAt: Date;
  readonly source: DeliverySource;
  readonly proof: string | undefined;
}

/** Step 3: verified bytes become a delivery whose event, schema and state agree. */
export async function readDelivery(
  rawBody: Uint8Array,
  envelope: Envelope,
  rules: ReadingRules,
): Promise<Delivery | Rejection> {
  const { event, scope, receivedAt, source, proof } = envelope;
  const json = parseJson(rawBody);
  if (json === undefined) {
    return new Rejection('body_not_json', { verified: true, id: envelope.id, event });
  }
  const record = rules.unwrap ? unwrap(json.value) : json.value;

  const content = contentOf(record, rawBody);
  const id = envelope.id ?? contentId(content);
  const { kind, payload, issues } = await judge(json.value, record, envelope, rules);
  const parts = { scope, id, event, content };
  const key = kind === 'invalid' ? invalidKey(parts, rawBody) : deliveryKey(rules.keyBy, parts);
  return { kind, key, ...parts, payload, issues, rawBody, receivedAt, source, proof };
}

type Judgement = Pick<Delivery, 'kind' | 'payload' | 'issues'>;

/** Whether a record is what its event says it is. */
async function judge(
  json: unknown,
  record: unknown,
  envelope: Envelope,
  rules: ReadingRules,
): Promise<Judgement> {
  const contradictions = findContradictions(json, record, envelope, rules);
  if (contradictions.length > 0)
    return { kind: 'invalid', payload: record, issues: contradictions };
  const schema = rules.schemas.get(envelope.event);
  if (!schema) return { kind: 'unknown', payload: record, issues: [] };
  const reading = isResource(schema) ? schema.read(record) : await readStandard(schema, record);
  const { issues } = reading;
  return 'value' in reading
    ? { kind: 'known', payload: reading.value, issues }
    : { kind: 'invalid', payload: record, issues };
}

/** A verified delivery as a store or a queue can keep it, for a hand-off of your own. */
export function seal({
  key,
  scope,
  id,
  event,
  rawBody,
  receivedAt,
  proof,
}: Delivery): SealedDelivery {
  return {
    key,
    scope,
    // What a sender makes very long would otherwise be kept whole, for as long as the delivery is known.
    id: headerText(id),
    event: headerText(event),
    body: rawBody,
    receivedAt: receivedAt.getTime(),
    proof,
  };
}

/** A sealed delivery, also as `list` of a store gives it, for a person: with a date, and with more. */
export type KeptDelivery = Omit<SealedDelivery, 'receivedAt'> & {
  readonly receivedAt: number | Date;
};

/** A delivery as a queue keeps it, and nothing more. */
export function toSealed(kept: KeptDelivery): SealedDelivery {
  const { key, scope, id, event, body, receivedAt, proof, traceparent } = kept;
  return { key, scope, id, event, body, receivedAt: Number(receivedAt), proof, traceparent };
}

/**
 * Reads a delivery again that was sealed when it was verified.
 *
 * @param from - The key of a row in the store is its key. What comes out of a queue may name any, and is
 *   given its own.
 */
export async function openSealed(
  { body, receivedAt, key, scope, id, event, proof }: SealedDelivery,
  rules: ReadingRules,
  from: 'queue' | 'store',
): Promise<Delivery | Rejection> {
  const about = { scope, id, event, receivedAt: new Date(receivedAt), proof };
  const delivery = await readDelivery(body, { ...about, source: 'queue' }, rules);
  return delivery.outcome === 'rejected' || from === 'queue' ? delivery : { ...delivery, key };
}

/** The key of a sealed delivery that fits its event; nothing where it is no JSON. */
export function keyOfSealed(
  { body, ...claimed }: SealedDelivery,
  rules: ReadingRules,
): string | undefined {
  const json = parseJson(body);
  if (json === undefined) return undefined;
  const record = rules.unwrap ? unwrap(json.value) : json.value;
  return deliveryKey(rules.keyBy, { ...claimed, content: contentOf(record, body) });
}

// Strict: a lossy decoder would drop a byte order mark and turn broken UTF-8 into question marks.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJson(bytes: Uint8Array): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(utf8.decode(bytes)) };
  } catch {
    return undefined;
  }
}

/** `{ event, data: { … } }` gives the record inside; anything else is the record itself. */
function unwrap(json: unknown): unknown {
  return isWrapped(json) ? json.data : json;
}

function isWrapped(json: unknown): json is { event: string; data: Record<string, unknown> } {
  return isJsonObject(json) && typeof json.event === 'string' && isJsonObject(json.data);
}

/** The event header is not signed: the signed body has to bear it out. */
function findContradictions(
  json: unknown,
  record: unknown,
  { event, receivedAt }: Envelope,
  { unwrap, paidStatuses, maxAgeMs }: ReadingRules,
): Issue[] {
  const issues: Issue[] = [];
  if (unwrap && isWrapped(json) && json.event !== event) {
    issues.push({ path: 'event', message: 'differs from the event header' });
  }
  if (!isJsonObject(record)) return issues;
  const { status, updated_at } = record;
  if (event === 'order:paid' && !paidStatuses.some((paid) => paid === status)) {
    const paid = paidStatuses.join(', ');
    const message = `is ${describeStatus(status)}, and paidStatuses are [${paid}]`;
    issues.push({ path: 'status', message });
  }
  if (maxAgeMs < Number.POSITIVE_INFINITY && updated_at !== undefined) {
    const age = receivedAt.getTime() - toTime(updated_at);
    // The other way round, a date that cannot be read would pass: it has no age.
    if (!(age <= maxAgeMs)) issues.push({ path: 'updated_at', message: 'is older than maxAge' });
    else if (age < -MAX_AHEAD_MS) issues.push({ path: 'updated_at', message: 'is in the future' });
  }
  return issues;
}

/** How far the provider's clock may be ahead of this one. */
const MAX_AHEAD_MS = 5 * 60 * 1000;

/** A time as text, or in seconds since 1970, which is how some write it; NaN for anything else. */
function toTime(value: unknown): number {
  if (typeof value === 'string') return Date.parse(value);
  return typeof value === 'number' ? value * 1000 : Number.NaN;
}

async function readStandard(schema: StandardSchema, value: unknown): Promise<Reading<unknown>> {
  const validated = Promise.resolve(schema['~standard'].validate(value));
  const result = await withTimeout(validated, 'A schema of yours');
  return result.issues
    ? { issues: result.issues.map(toIssue) }
    : { value: result.value, issues: [] };
}

function isResource(schema: StandardSchema): schema is ResourceSchema<unknown> {
  return 'read' in schema && schema['~standard'].vendor === VENDOR;
}

function toIssue({ message, path = [] }: StandardIssue): Issue {
  const keys = path.map((part) => String(typeof part === 'object' ? part?.key : part));
  return { path: keys.join('.'), message, foreign: true };
}
