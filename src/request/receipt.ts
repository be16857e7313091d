import { OUTCOMES, type Outcome } from '../outcome.js';
import { decodeHex, toHex, toUtf8 } from './bytes.js';
import { headerText } from './key.js';
import { sha2 } from './sha2.js';
import type { Secret } from './signature.js';

/** What a receipt is about. */
export interface Receipted {
  /** The idempotency key of the delivery. */
  readonly key: string;
  /** Its id, as the receiver knows it. */
  readonly id: string;
}

/** A receipt as it was found, perhaps of somebody else's making. */
export interface Receipt {
  readonly outcome: Outcome;
  readonly key: string;
  readonly answeredAt: Date;
  /** Everything but the code behind it. */
  readonly stated: string;
  readonly code: string;
}

/**
 * Writes the receipt of an answer: that this receiver, or one with its secret, has given this outcome for this
 * delivery. Nobody else can write it, so that the provider's log tells such an answer from that of a
 * maintenance page.
 */
export function writeReceipt(
  { key, id }: Receipted,
  outcome: Outcome,
  secret: Secret,
  answeredAt = Date.now(),
): string {
  const stated = `v1.${outcome}.${Math.floor(answeredAt / 1000)}.${key}`;
  return `${stated}.${toHex(codeOf(stated, id, secret))}`;
}

const RECEIPT = /v1\.([a-z]{1,20})\.(\d{1,12})\.([0-9a-f]{64})\.([0-9a-f]{64})(?![0-9a-z])/;

/** The first receipt in a text: a header, or a body around it. */
export function findReceipt(text: string): Receipt | undefined {
  const [whole = '', outcome, seconds, key = '', code = ''] = RECEIPT.exec(text) ?? [];
  const known = OUTCOMES.find((one) => one === outcome);
  if (known === undefined) return undefined;
  const stated = whole.slice(0, -code.length - 1);
  return { outcome: known, key, answeredAt: new Date(Number(seconds) * 1000), stated, code };
}

/** Whether a receipt is of one of these secrets, for a delivery of this id. */
export function isGenuine(
  { stated, code }: Receipt,
  id: string,
  secrets: readonly Secret[],
): boolean {
  const given = decodeHex(code, new Uint8Array(32));
  let genuine = false;
  for (const secret of secrets) genuine = sha2.equal(codeOf(stated, id, secret), given) || genuine;
  return genuine;
}

/** A key of its own: what signs receipts must sign nothing that the provider could have sent. */
const PURPOSE = toUtf8('storefront-webhooks receipt');

/** The keys of the secrets that were used last: there are a few, and a log has many receipts. */
const receiptKeys = new Map<Secret, Uint8Array>();
const MAX_KEYS = 16;

function receiptKeyOf(secret: Secret): Uint8Array {
  const known = receiptKeys.get(secret);
  if (known) return known;
  if (receiptKeys.size >= MAX_KEYS) receiptKeys.clear();
  const made = sha2.hmacSha512(secret, PURPOSE);
  receiptKeys.set(secret, made);
  return made;
}

function codeOf(stated: string, id: string, secret: Secret): Uint8Array {
  const about = toUtf8(JSON.stringify([stated, headerText(id)]));
  return sha2.hmacSha512(receiptKeyOf(secret), about).subarray(0, 32);
}
