import {
  brotliCompressSync,
  brotliDecompressSync,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateSync,
} from 'node:zlib';
import { verifySignature } from 'storefront-webhooks';
import { OUTCOMES } from '../../request/outcome.js';
import { isJsonObject } from '../../schemas/values.js';
import type { DeliveryReport } from '../delivery.js';
import type { Saved } from '../fixture-file.js';
import { type Answered, type Arrived, toSavedHeaders } from './proxy.js';
import { redact, redactHeaders } from './redact.js';

/** The options of a recording. */
export interface RecordingRules {
  /** The secrets to verify deliveries with; may be empty. */
  readonly secrets: readonly string[];
  readonly headerPrefix: string;
  /** Whether to keep customer data and the signature. */
  readonly asIs: boolean;
}

/** The event, id and state of the signature in the headers of a request. The headers are not signed. */
export interface Named {
  readonly event: string;
  readonly id: string;
  readonly signature: Extract<
    DeliveryReport['signature'],
    'valid' | 'none' | 'wrong' | 'unchecked'
  >;
}

export function nameOf({ headers, body }: Arrived, rules: RecordingRules): Named {
  const { secrets, headerPrefix } = rules;
  const value = (name: string) => {
    const wanted = (headerPrefix + name).toLowerCase();
    const values = headers.flatMap(([one, text]) => (one.toLowerCase() === wanted ? [text] : []));
    return values.join(', ');
  };
  const given = value('Signature');
  const fits = () => (verifySignature(body, given, secrets) ? 'valid' : 'wrong');
  return {
    event: value('Event') || 'unknown',
    id: value('Webhook'),
    signature: given === '' ? 'none' : secrets.length === 0 ? 'unchecked' : fits(),
  };
}

/**
 * Turns a delivery into a fixture that expects the answer that was given.
 *
 * @returns `undefined` if the body cannot be read, and so customer data cannot be removed.
 */
export function toRecording(
  arrived: Arrived,
  { status, body: answer }: Answered,
  { event, signature }: Named,
  { asIs, headerPrefix }: RecordingRules,
): Saved | undefined {
  const isRefused = signature === 'wrong' || (signature === 'unchecked' && status === 401);
  const signing = signature === 'none' ? 'omit' : isRefused ? 'corrupt' : 'resign';
  const outcome = outcomeOf(answer);
  const about = {
    event,
    description: `Recorded ${arrived.time}. ${TOLD[signature]}`,
    method: arrived.method,
    expect: status === 0 ? undefined : { status, ...(outcome && { outcome }) },
  };
  const headers = toSavedHeaders(arrived.headers);
  if (asIs) return { ...about, headers, body: arrived.body, signing: 'keep', redacted: [] };
  const redacted = redactBody(arrived);
  return (
    redacted && {
      ...about,
      headers: redactHeaders(headers, `${headerPrefix}Signature`),
      signing,
      ...redacted,
    }
  );
}

const TOLD = {
  valid: 'Its signature was valid.',
  wrong: 'Not verified: its signature did not match.',
  none: 'Not verified: it had no signature.',
  unchecked: 'Not verified: no secret was given.',
} satisfies Record<Named['signature'], string>;

const CODINGS: Readonly<
  Record<string, readonly [decode: typeof gunzipSync, encode: (bytes: Uint8Array) => Buffer]>
> = {
  gzip: [gunzipSync, gzipSync],
  deflate: [inflateSync, deflateSync],
  br: [brotliDecompressSync, brotliCompressSync],
};

/** The most bytes to decompress: a hostile body could expand without end. */
const MAX_DECODED = 16 * 1024 * 1024;

/** Removes customer data from a body. Returns `undefined` if the body cannot be read. */
export function redactBody({
  headers,
  body,
}: Pick<Saved, 'headers' | 'body'>): Pick<Saved, 'body' | 'redacted'> | undefined {
  if (body.length === 0) return { body, redacted: [] };
  const [, coding = ''] = headers.find(([name]) => /^content-encoding$/i.test(name)) ?? [];
  const [decode, encode] = CODINGS[coding.trim().toLowerCase()] ?? [];
  try {
    const plain = decode ? decode(body, { maxOutputLength: MAX_DECODED }) : body;
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plain);
    const { text: clean, redacted } = redact(text);
    const bytes = new TextEncoder().encode(clean);
    return { body: encode ? encode(bytes) : bytes, redacted };
  } catch {
    return undefined;
  }
}

/** Returns the outcome in the answer of a receiver. */
export function outcomeOf(answer: string): (typeof OUTCOMES)[number] | undefined {
  try {
    const told: unknown = JSON.parse(answer);
    return isJsonObject(told) ? OUTCOMES.find((one) => one === told.outcome) : undefined;
  } catch {
    return undefined;
  }
}
