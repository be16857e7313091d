import { Rejection } from '../outcome.js';
import type { Issue } from '../schemas/issue.js';
import { isJsonObject } from '../schemas/json.js';
import { findUnpaid, type OrderStatus } from '../schemas/order.js';
import { type Reading, type ResourceSchema, VENDOR } from '../schemas/resource.js';
import type { StandardIssue, StandardSchema } from '../schemas/standard-schema.js';
import { toTime } from '../schemas/time.js';
import { withTimeout } from '../timing.js';
import { contentId, contentOf, deliveryKey, headerText, invalidKey, type KeyBy } from './key.js';
import { readProof } from './proof.js';
import type { RequestHeaders } from './request.js';
import { type Unwrap, unwrapBody } from './unwrap.js';

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

/**
 * Where a delivery came from: `log` is the provider's log, read by recovery over the authenticated API. Such a one
 * was not verified by a signature.
 */
export type DeliverySource = 'webhook' | 'queue' | 'log';

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
  /**
   * The id of the webhook log, as the sender claims or `unwrap` gives it; begins with `content:` where there is
   * none.
   */
  readonly id: string;
  /** The event, as the sender claims or `unwrap` gives it. */
  readonly event: string;
  readonly payload: unknown;
  /** Fields that did not fit and were left `undefined`; what is wrong, where `kind` is `invalid`. */
  readonly issues: readonly Issue[];
  /** The body as received. */
  readonly rawBody: Uint8Array;
  readonly receivedAt: Date;
  readonly source: DeliverySource;
  /** The request that it came with, as far as it is known. Not signed. */
  readonly request: ReceivedRequest;
  /** By what a worker proves it again. Opaque. */
  readonly proof: string | undefined;
}

/** What is kept of a request beside its body. */
export interface ReceivedRequest {
  /** Path and query, as they were sent; empty where they are not known. */
  readonly url: string;
  readonly headers: RequestHeaders;
}

/** How verified bytes are read. */
export interface ReadingRules {
  readonly schemas: ReadonlyMap<string, StandardSchema>;
  readonly keyBy: KeyBy;
  readonly unwrap: Unwrap;
  readonly paidStatuses: readonly OrderStatus[];
  readonly maxAgeMs: number;
}

/** What is known of a delivery beside its bytes. */
export interface Envelope {
  readonly scope: string;
  readonly id: string | undefined;
  /** Absent where only the body may name it. */
  readonly event: string | undefined;
  readonly receivedAt: Date;
  readonly source: DeliverySource;
  readonly request: ReceivedRequest;
  readonly proof: string | undefined;
}

/**
 * Step 3: verified bytes become a delivery whose event, schema and state agree.
 *
 * @throws {UsageError} `unwrap_invalid`, `key_invalid`, and what a function or a schema of the user's throws.
 */
export async function readDelivery(
  rawBody: Uint8Array,
  envelope: Envelope,
  rules: ReadingRules,
): Promise<Delivery | Rejection> {
  const { scope, receivedAt, source, request, proof } = envelope;
  const json = parseJson(rawBody);
  if (json === undefined) {
    const { id, event } = envelope;
    return new Rejection('body_not_json', { verified: true, id, event });
  }
  const { event, record, contradicts, ...found } = unwrapBody(
    json.value,
    rules.unwrap,
    envelope,
    rawBody.length,
  );
  if (event === undefined) {
    const detail = 'No header names the event, and what `unwrap` takes out of the body does not.';
    return new Rejection('event_header_invalid', { verified: true, id: found.id, detail });
  }

  const content = contentOf(record, rawBody);
  const id = found.id ?? contentId(content);
  const contradictions = contradicts ? [OTHER_EVENT] : [];
  if (typeof rules.unwrap === 'function' && hasRoundedId(json.text))
    contradictions.push(ROUNDED_ID);
  contradictions.push(...findContradictions(record, event, receivedAt, rules));
  const { kind, payload, issues } =
    contradictions.length > 0
      ? ({ kind: 'invalid', payload: record, issues: contradictions } as const)
      : await judge(record, rules.schemas.get(event));
  const parts = { scope, id, event, content };
  const key =
    kind === 'invalid' ? invalidKey(parts, rawBody) : deliveryKey(rules.keyBy, parts, record);
  return { kind, key, ...parts, payload, issues, rawBody, receivedAt, source, request, proof };
}

const OTHER_EVENT: Issue = { path: 'event', message: 'differs from the event header' };
const ROUNDED_ID: Issue = {
  path: 'id',
  message: 'is a number beyond 2^53, which has lost digits: two orders may read alike',
};

/** As text, `unwrap` may have made an id of it by which nobody sees any more that it was rounded. */
function hasRoundedId(text: string): boolean {
  return Array.from(text.matchAll(/"\w*id"\s*:\s*(-?\d{16,})/gi)).some(
    ([, digits]) => !Number.isSafeInteger(Number(digits)),
  );
}

type Judgement = Pick<Delivery, 'kind' | 'payload' | 'issues'>;

/** Whether a record fits the schema of its event. */
async function judge(record: unknown, schema: StandardSchema | undefined): Promise<Judgement> {
  if (!schema) return { kind: 'unknown', payload: record, issues: [] };
  const reading = isResource(schema) ? schema.read(record) : await readStandard(schema, record);
  const { issues } = reading;
  return 'value' in reading
    ? { kind: 'known', payload: reading.value, issues }
    : { kind: 'invalid', payload: record, issues };
}

/**
 * A verified delivery as a store or a queue can keep it, for a hand-off of your own.
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
 * @param from - A row of the store has its key. What comes out of a queue may name any, and is given its own.
 */
export async function openSealed(
  { body, receivedAt, key, scope, id, event, proof }: SealedDelivery,
  rules: ReadingRules,
  from: 'queue' | 'store',
): Promise<Delivery | Rejection> {
  const request = readProof(proof ?? '');
  const about = { scope, id, event, receivedAt: new Date(receivedAt), request, proof };
  const delivery = await readDelivery(body, { ...about, source: 'queue' }, rules);
  return delivery.outcome === 'rejected' || from === 'queue' ? delivery : { ...delivery, key };
}

/** The key of a sealed delivery that fits its event; nothing where it is no JSON, or cannot be made. */
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
    // A function of the user's throws, perhaps the one because of which the key is asked for.
    return undefined;
  }
}

// Strict: a lossy decoder would drop a byte order mark and turn broken UTF-8 into question marks.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

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

/** The event header is not signed: the signed body has to bear it out. */
function findContradictions(
  record: unknown,
  event: string,
  receivedAt: Date,
  { paidStatuses, maxAgeMs }: ReadingRules,
): Issue[] {
  if (!isJsonObject(record)) return [];
  const issues: Issue[] = [];
  const { status, updated_at } = record;
  const unpaid = event === 'order:paid' ? findUnpaid(status, paidStatuses) : undefined;
  if (unpaid) issues.push(unpaid);
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
