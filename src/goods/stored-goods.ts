import { UsageError, WebhookError } from '../errors/errors.js';
import { isTextOfNone } from '../request/signature.js';
import { fromBase64, toBase64 } from '../runtime/base64.js';
import { isBytes, nameType, toUtf8 } from '../runtime/bytes.js';
import { isJsonObject, type Json } from '../schemas/values.js';

/** Goods as every call gets them. */
export interface KeptGoods {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** In base64, this still fits into a row of every store. */
const MAX_BYTES = 1024 * 1024;

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
/** Rejects content types that a server could not send, before they are recorded forever. */
const CONTENT_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?: *;[\\x20-\\x7e]*)?$`);
const MAX_TYPE = 200;

/**
 * Converts goods to the JSON that the store keeps.
 *
 * @throws {UsageError} `goods_invalid` if the goods are empty, too large, or the text of a missing value, such as
 *   "undefined".
 */
export function packGoods(made: unknown): Json {
  const [body, type] = isBare(made) ? [made, undefined] : partsOf(made);
  const contentType = type ?? (typeof body === 'string' ? TEXT : BYTES);
  if (contentType.length > MAX_TYPE || !CONTENT_TYPE.test(contentType)) {
    throw invalid('a contentType that is not valid (a valid one is text/html; charset=utf-8)');
  }
  if (typeof body === 'string' && isTextOfNone(body.trim())) {
    throw invalid(`the text "${body.trim()}", so the value that it was made from is missing`);
  }
  const isBlank = typeof body === 'string' ? body.trim() === '' : body.length === 0;
  if (isBlank) throw invalid('nothing');
  const bytes = typeof body === 'string' ? toUtf8(body) : body;
  if (bytes.length > MAX_BYTES) {
    throw invalid(
      `${bytes.length} bytes, but ${MAX_BYTES} is the most: return a link to larger goods`,
    );
  }
  return { contentType, base64: toBase64(bytes) };
}

const TEXT = 'text/plain; charset=utf-8';
const BYTES = 'application/octet-stream';

/**
 * Converts the store's JSON back to goods.
 *
 * @throws {WebhookError} `store_invalid` if the JSON was not made by {@link packGoods}.
 */
export function unpackGoods(kept: unknown): KeptGoods {
  const { contentType, base64 } = isJsonObject(kept) ? kept : {};
  if (typeof contentType !== 'string' || typeof base64 !== 'string') {
    throw new WebhookError('store_invalid', 'The store returned something other than goods.');
  }
  return { contentType, bytes: fromBase64(base64) };
}

function isBare(made: unknown): made is string | Uint8Array {
  return typeof made === 'string' || isBytes(made);
}

function partsOf(made: unknown): [body: string | Uint8Array, contentType: string] {
  const { body, contentType } = isJsonObject(made) ? made : {};
  if (isBare(body) && typeof contentType === 'string') return [body, contentType];
  throw invalid(made === undefined ? 'nothing' : nameType(made));
}

function invalid(given: string): UsageError {
  return new UsageError(
    'goods_invalid',
    'The function of createGoods has to return the goods, as text, bytes or { body, contentType }, but returned ' +
      `${given}. Nothing was sent. The next call runs the function again.`,
  );
}
