import { isBytes, toUtf8 } from '../../runtime/bytes.js';
import type { StatementName } from '../sqlite/statements.js';

/** A request to the object: the name of a statement, or `purge`. */
export type Verb = StatementName | 'purge';

// The version of the statements' values. During a gradual deployment, the object and the Worker may have
// different versions, and the object has to reject requests that it would misunderstand. A new statement gets a
// new name instead of a new version, so that the statements that both know keep working: see `claimProved`.
const ADDRESS = 'https://webhook-deliveries/1/';

/** The error of an object that does not know a verb. The object has changed nothing. */
export const OTHER_VERSION = 'The object and the Worker are of different versions.';

/** Marks the answers of the object, to distinguish them from those of other classes. */
export const CONTENT_TYPE = 'application/x-webhook-deliveries';

export function toUrl(verb: Verb): string {
  return ADDRESS + verb;
}

/** Returns the verb of a URL; it may be empty or unknown. */
export function toVerb(url: string): string {
  return url.startsWith(ADDRESS) ? url.slice(ADDRESS.length) : '';
}

const LENGTH_BYTES = 4;

/** Encodes plain data as a frame: the length of the JSON, the JSON, and then the bytes unchanged. */
export function encode(data: unknown): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  const json = JSON.stringify(data, function (this: Record<string, unknown>, name, field) {
    // The value before toJSON(), because a Buffer has that method.
    const bytes = toBytes(this[name]);
    if (!bytes) return field;
    pieces.push(bytes);
    return { bytes: bytes.length };
  });
  const text = toUtf8(json);
  const size = pieces.reduce((sum, { length }) => sum + length, LENGTH_BYTES + text.length);
  const frame = new Uint8Array(size);
  new DataView(frame.buffer).setUint32(0, text.length);
  let at = LENGTH_BYTES;
  for (const piece of [text, ...pieces]) {
    frame.set(piece, at);
    at += piece.length;
  }
  return frame;
}

/**
 * Decodes a frame of {@link encode}. Bytes in the result are views of the frame.
 *
 * @throws {Error} If the frame is incomplete or not valid. The message quotes nothing of the frame.
 */
export function decode(frame: ArrayBuffer): unknown {
  try {
    return read(frame);
  } catch {
    throw new Error('This is not a frame of WebhookDeliveries.');
  }
}

function read(frame: ArrayBuffer): unknown {
  const length = new DataView(frame).getUint32(0);
  const text = new TextDecoder().decode(new Uint8Array(frame, LENGTH_BYTES, length));
  let at = LENGTH_BYTES + length;
  return JSON.parse(text, (_, field) => {
    if (typeof field?.bytes !== 'number') return field;
    const bytes = new Uint8Array(frame, at, field.bytes);
    at += bytes.length;
    return bytes;
  });
}

function toBytes(field: unknown): Uint8Array | undefined {
  if (isBytes(field)) return field;
  return field instanceof ArrayBuffer ? new Uint8Array(field) : undefined;
}
