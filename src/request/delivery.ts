import { utf8 } from '../runtime/bytes.js';
import { withTimeout } from '../runtime/timing.js';
import type { Issue } from '../schemas/issue.js';
import { findUnpaid, type OrderStatus } from '../schemas/order.js';
import { type Reading, type ResourceSchema, ROUNDED, VENDOR } from '../schemas/resource.js';
import type { StandardIssue, StandardSchema } from '../schemas/standard-schema.js';
import { fieldOf, isJsonObject, toTime } from '../schemas/values.js';
import { contentId, contentOf, deliveryKey, headerText, invalidKey, type KeyBy } from './key.js';
import { Rejection } from './outcome.js';
import { type ReceivedRequest, readProof, Unprinted } from './proof.js';
import { type Unwrap, unwrapBody } from './unwrap.js';

/** A verified delivery as a store or a queue keeps it, with everything that is needed to process it later. */
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
   * Verifies the body again when the delivery is processed later: the signature as received and, for a `secret`
   * function, the request. Opaque: keep it beside the body.
   */
  readonly proof?: string | undefined;
  /** The W3C trace context of the hand-off to a queue. Stores do not keep it. */
  readonly traceparent?: string | undefined;
}

/**
 * The origin of a delivery. `log` is the provider's log, which recovery reads over the authenticated API: such a
 * delivery was not verified by a signature.
 */
export type DeliverySource = 'webhook' | 'queue' | 'log';

/** A verified delivery, parsed and checked against its event. */
export interface Delivery {
  /** Always `undefined`: it tells a delivery from a `Rejection`, which has an outcome. */
  readonly outcome?: undefined;
  /**
   * `known`: the payload fits its event. `unknown`: the event has no schema. `invalid`: the payload fails its
   * schema or contradicts its event, and {@link issues} says how.
   */
  readonly kind: 'known' | 'unknown' | 'invalid';
  /** The idempotency key: 64 hexadecimal digits. */
  readonly key: string;
  /** The content of the payload, as used for the key: the state that it claims, or a hash of the whole. */
  readonly content: string;
  /** The shop or receiver that the delivery is for. */
  readonly scope: string;
  /**
   * The id of the webhook log, as the sender claims or `unwrap` returns it. Begins with `content:` if the request
   * has no id.
   */
  readonly id: string;
  /** The event, as the sender claims or `unwrap` returns it. */
  readonly event: string;
  readonly payload: unknown;
  /** Fields that did not fit and were left `undefined`; if `kind` is `invalid`, what is wrong. */
  readonly issues: readonly Issue[];
  /** The body as received. */
  readonly rawBody: Uint8Array;
  readonly receivedAt: Date;
  readonly source: DeliverySource;
  /** The request that carried the delivery, as far as it is known. Not signed. */
  readonly request: ReceivedRequest;
}

/** The settings for reading verified bytes. */
export interface ReadingRules {
  readonly schemas: ReadonlyMap<string, StandardSchema>;
  readonly keyBy: KeyBy;
  readonly unwrap: Unwrap;
  readonly paidStatuses: readonly OrderStatus[];
  readonly maxAgeMs: number;
}

/** Everything that is known about a delivery except its bytes. */
export interface Envelope {
  readonly scope: string;
  readonly id: string | undefined;
  /** Absent if only the body can name the event. */
  readonly event: string | undefined;
  readonly receivedAt: Date;
  readonly source: DeliverySource;
  readonly request: ReceivedRequest;
}

/**
 * Step 3: reads a delivery from verified bytes, and checks that event, schema and state agree.
 *
 * @throws {UsageError} `unwrap_invalid`, `key_invalid`, and whatever a function or schema of the user throws.
 */
export async function readDelivery(
  rawBody: Uint8Array,
  envelope: Envelope,
  rules: ReadingRules,
): Promise<Delivery | Rejection> {
  const { scope, receivedAt, source, request } = envelope;
  const json = parseJson(rawBody);
  if (json === undefined) {
    const { id, event } = envelope;
    return new Rejection('body_not_json', { verified: true, id, event });
  }
  const found = unwrapBody(json.value, rules.unwrap, envelope, rawBody.length);
  const { event, record } = found;
  if (event === undefined) {
    const detail = 'No header names the event, and `unwrap` found none.';
    return new Rejection('event_header_invalid', { verified: true, id: found.id, detail });
  }

  const content = contentOf(record, rawBody);
  const id = found.id ?? contentId(content);
  const contradictions = found.contradicts ? [OTHER_EVENT] : [];
  if (typeof rules.unwrap === 'function' && hasRoundedId(json.text, record))
    contradictions.push(ROUNDED_ID);
  contradictions.push(...findContradictions(record, event, receivedAt, rules));
  const { kind, payload, issues } =
    contradictions.length > 0
      ? ({ kind: 'invalid', payload: record, issues: contradictions } as const)
      : await judge(record, rules.schemas.get(event), json.text);
  const parts = { scope, id, event, content };
  const key =
    kind === 'invalid' ? invalidKey(parts, rawBody) : deliveryKey(rules.keyBy, parts, record);
  return { kind, key, ...parts, payload, issues, rawBody, receivedAt, source, request };
}

const OTHER_EVENT: Issue = { path: 'event', message: 'differs from the event header' };
export const ROUNDED_ID: Issue = { path: 'id', message: ROUNDED };

/**
 * Looks at the numbers in the text of the body, because `unwrap` or a schema may have turned a rounded one into a text
 * id, or into a part of one. An unchanged number is no other one, even beyond 2^53.
 */
export function hasRoundedId(text: string, record: unknown): boolean {
  const { id } = Object(record);
  if (typeof id === 'object') return false;
  // A bigint of a rounded number has further digits: 1234567890123456768n for 1234567890123456800.
  const found = String(typeof id === 'bigint' ? Number(id) : id);
  return [...text.matchAll(/[:[,]\s*(-?\d{16,})/g)].some(([, digits]) => {
    const number = `${Number(digits)}`;
    return digits !== number && digits !== String(id) && found.includes(number);
  });
}

type Judgement = Pick<Delivery, 'kind' | 'payload' | 'issues'>;

/** Checks a record against the schema of its event. */
async function judge(
  record: unknown,
  schema: StandardSchema | undefined,
  text: string,
): Promise<Judgement> {
  if (!schema) return { kind: 'unknown', payload: record, issues: [] };
  const reading = isResource(schema)
    ? schema.read(record)
    : await readStandard(schema, record, text);
  const { issues } = reading;
  return 'value' in reading
    ? { kind: 'known', payload: reading.value, issues }
    : { kind: 'invalid', payload: record, issues };
}

/**
 * Turns a verified delivery into a form that a store or a queue can keep, for a queue of your own.
 *
 * @example
 * const keep = (delivery: Delivery) => jobs.add(delivery.key, toJob(seal(delivery)));
 */
export function seal({
  key,
  scope,
  id,
  event,
  rawBody,
  receivedAt,
  request,
}: Delivery): SealedDelivery {
  return {
    key,
    scope,
    // Shortened, because a sender can make them very long, and the store keeps them as long as the delivery.
    id: headerText(id),
    event: headerText(event),
    body: rawBody,
    receivedAt: receivedAt.getTime(),
    proof: request.proof,
  };
}

/** A sealed delivery, or one from `store.list`, which has a `Date` and more fields. */
export type KeptDelivery = Omit<SealedDelivery, 'receivedAt'> & {
  readonly receivedAt: number | Date;
};

/** Returns the fields that a queue keeps, and no others. */
export function toSealed(kept: KeptDelivery): SealedDelivery {
  const { key, scope, id, event, body, receivedAt, proof, traceparent } = kept;
  return { key, scope, id, event, body, receivedAt: Number(receivedAt), proof, traceparent };
}

/** Reads a sealed delivery. Computes its key, because a message of a queue can claim any key. */
export async function openSealed(
  { body, receivedAt, scope, id, event, proof }: SealedDelivery,
  rules: ReadingRules,
): Promise<Delivery | Rejection> {
  const { url, headers } = readProof(proof ?? '');
  const request = new Unprinted(url, headers, proof);
  const about = { scope, id, event, receivedAt: new Date(receivedAt), request };
  return readDelivery(body, { ...about, source: 'queue' }, rules);
}

/** The key of a sealed delivery that fits its event; `undefined` if the body is not valid JSON or has no key. */
export function keyOfSealed(
  { body, ...claimed }: SealedDelivery,
  rules: ReadingRules,
): string | undefined {
  const json = parseJson(body);
  if (json === undefined) return undefined;
  try {
    const {
      event = '',
      id = '',
      record,
    } = unwrapBody(json.value, rules.unwrap, claimed, body.length);
    const parts = { scope: claimed.scope, id, event, content: contentOf(record, body) };
    return deliveryKey(rules.keyBy, parts, record);
  } catch {
    // A function of the user threw, perhaps the very one that made the caller ask for the key.
    return undefined;
  }
}

export function parseJson(
  bytes: Uint8Array,
): { readonly value: unknown; readonly text: string } | undefined {
  try {
    const text = utf8.decode(bytes);
    return { value: JSON.parse(text), text };
  } catch {
    return undefined;
  }
}

/** Checks the event header, which is not signed, against the signed body. */
function findContradictions(
  record: unknown,
  event: string,
  receivedAt: Date,
  { paidStatuses, maxAgeMs }: ReadingRules,
): Issue[] {
  if (!isJsonObject(record)) return [];
  const issues: Issue[] = [];
  const updated_at = fieldOf(record, 'updated_at');
  const isPaidEvent = event === 'order:paid';
  const unpaid = isPaidEvent ? findUnpaid(fieldOf(record, 'status'), paidStatuses) : undefined;
  if (unpaid) issues.push(unpaid);
  if (maxAgeMs < Number.POSITIVE_INFINITY && updated_at !== undefined) {
    const age = receivedAt.getTime() - toTime(updated_at);
    // The comparison is negated so that an invalid date, whose age is NaN, is rejected.
    if (!(age <= maxAgeMs)) issues.push({ path: 'updated_at', message: 'is older than maxAge' });
    else if (age < -MAX_AHEAD_MS) issues.push({ path: 'updated_at', message: 'is in the future' });
  }
  return issues;
}

/** How far the provider's clock may be ahead of the receiver's. */
const MAX_AHEAD_MS = 300_000;

async function readStandard(
  schema: StandardSchema,
  record: unknown,
  text: string,
): Promise<Reading<unknown>> {
  const validated = Promise.resolve(schema['~standard'].validate(record));
  const result = await withTimeout(validated, 'A schema of your own');
  if (result.issues) return { issues: result.issues.map(toIssue) };
  const { value } = result;
  return hasRoundedId(text, value) ? { issues: [ROUNDED_ID] } : { value, issues: [] };
}

function isResource(schema: StandardSchema): schema is ResourceSchema<unknown> {
  return 'read' in schema && schema['~standard'].vendor === VENDOR;
}

function toIssue({ message, path = [] }: StandardIssue): Issue {
  const keys = path.map((part) => String(typeof part === 'object' ? part?.key : part));
  return { path: keys.join('.'), message, foreign: true };
}
