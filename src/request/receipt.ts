import { toHex, toUtf8 } from '../runtime/bytes.js';
import { sha2 } from '../runtime/hashes.js';
import { headerText } from './key.js';
import { OUTCOMES, type Outcome } from './outcome.js';
import type { Secret } from './signature.js';

/** The delivery that a receipt is for. */
export interface Receipted {
  /** The idempotency key of the delivery. */
  readonly key: string;
  /** The id of the delivery, as the receiver knows it. */
  readonly id: string;
}

/** A receipt as found in an answer. It may be forged: see {@link isGenuine}. */
export interface Receipt {
  readonly outcome: Outcome;
  readonly key: string;
  readonly answeredAt: Date;
  /** The signed part of the receipt: everything before the code. */
  readonly stated: string;
  readonly code: string;
}

/**
 * Writes the receipt of an answer. It proves that a receiver with this secret gave this outcome for this delivery,
 * so that the provider's log shows whether an answer came from the receiver or from, say, a maintenance page.
 */
export function writeReceipt(
  { key, id }: Receipted,
  outcome: Outcome,
  secret: Secret,
  answeredAt = Date.now(),
): string {
  const stated = `v1.${outcome}.${Math.floor(answeredAt / 1000)}.${key}`;
  return `${stated}.${codeOf(stated, id, secret)}`;
}

const RECEIPT = /v1\.([a-z]{1,20})\.(\d{1,12})\.([0-9a-f]{64})\.([0-9a-f]{64})(?![0-9a-z])/;

/** Finds the first receipt in a text, such as a header or a body. */
export function findReceipt(text: string): Receipt | undefined {
  const [whole = '', outcome, seconds, key = '', code = ''] = RECEIPT.exec(text) ?? [];
  const known = OUTCOMES.find((one) => one === outcome);
  if (known === undefined) return undefined;
  const stated = whole.slice(0, -code.length - 1);
  return { outcome: known, key, answeredAt: new Date(Number(seconds) * 1000), stated, code };
}

/** Whether a receipt was signed with one of these secrets, for a delivery with this id. */
export function isGenuine(
  { stated, code }: Receipt,
  id: string,
  secrets: readonly Secret[],
): boolean {
  const given = toUtf8(code);
  let genuine = false;
  for (const secret of secrets)
    genuine = sha2.equal(toUtf8(codeOf(stated, id, secret)), given) || genuine;
  return genuine;
}

/** Derives a key of its own for receipts, so that no receipt is also a valid signature of the provider. */
const PURPOSE = toUtf8('storefront-webhooks receipt');

/** The signers of the latest secrets, cached: a log has many receipts under few secrets. */
const signers = new Map<string, (message: string) => string>();
const MAX_SIGNERS = 16;

function signerOf(secret: Secret): (message: string) => string {
  // Each call of a `secret` function can return new bytes. No variable of the environment holds a zero byte.
  const name = typeof secret === 'string' ? secret : `\0${toHex(secret)}`;
  const known = signers.get(name);
  if (known) return known;
  if (signers.size >= MAX_SIGNERS) signers.clear();
  const made = sha2.signer(sha2.hmacSha512(secret, PURPOSE));
  signers.set(name, made);
  return made;
}

function codeOf(stated: string, id: string, secret: Secret): string {
  return signerOf(secret)(JSON.stringify([stated, headerText(id)])).slice(0, 64);
}
