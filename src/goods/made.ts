import { UsageError, WebhookError } from '../errors.js';
import { isBytes, nameType, toUtf8 } from '../request/bytes.js';
import { isTextOfNone } from '../request/signature.js';
import { isJsonObject, type Json } from '../schemas/json.js';
import { fromBase64, toBase64 } from '../stores/base64.js';

/** Goods as they are sent, every time. */
export interface KeptGoods {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** In base64, it fits the row of every store. */
const MAX_BYTES = 1024 * 1024;

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
/** Nothing that a server would refuse to send, once it is recorded for ever. */
const CONTENT_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?: *;[\\x20-\\x7e]*)?$`);
const MAX_TYPE = 200;

/**
 * What was made, as the store keeps it.
 *
 * @throws {UsageError} `goods_invalid`: nobody may be sent nothing, or the text of a value that is none, as goods.
 */
export function packGoods(made: unknown): Json {
  const [body, type] = isBare(made) ? [made, undefined] : partsOf(made);
  const contentType = type ?? (typeof body === 'string' ? TEXT : BYTES);
  if (contentType.length > MAX_TYPE || !CONTENT_TYPE.test(contentType)) {
    throw invalid('a contentType that is none, such as text/html; charset=utf-8');
  }
  if (typeof body === 'string' && isTextOfNone(body.trim())) {
    throw invalid(`the text ${body.trim()}, which is what becomes of a value that is none`);
  }
  const isBlank = typeof body === 'string' ? body.trim() === '' : body.length === 0;
  if (isBlank) throw invalid('nothing');
  const bytes = typeof body === 'string' ? toUtf8(body) : body;
  if (bytes.length > MAX_BYTES) {
    throw invalid(`${bytes.length} bytes, of at most ${MAX_BYTES}: give a link to what is larger`);
  }
  return { contentType, base64: toBase64(bytes) };
}

const TEXT = 'text/plain; charset=utf-8';
const BYTES = 'application/octet-stream';

/**
 * Goods as the store has kept them.
 *
 * @throws {WebhookError} `store_invalid`: what is there was not written by {@link packGoods}.
 */
export function unpackGoods(kept: unknown): KeptGoods {
  const { contentType, base64 } = isJsonObject(kept) ? kept : {};
  if (typeof contentType !== 'string' || typeof base64 !== 'string') {
    throw new WebhookError('store_invalid', 'What the store has kept is no goods.');
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
    'The function of createGoods has to give the goods, as a text, bytes or { body, contentType }, and gave ' +
      `${given}. Nothing was sent, and it is called again with the next call.`,
  );
}
