import { isBytes } from '../../request/bytes.js';
import type { StatementName } from '../sqlite/statements.js';

/** What the object can be asked for: a statement by its name, or to purge. */
export type Verb = StatementName | 'purge';

// The version is that of the statements' values: while a deployment is gradual, the object may be of
// another one than the Worker, and has to refuse what it would misunderstand. What is new has a name of
// its own instead, so that all that both know goes on: see `claimProved`.
const ADDRESS = 'https://webhook-deliveries/1/';

/** What an object says that does not know a verb. It has changed nothing. */
export const OTHER_VERSION = 'The object and the Worker are of different versions.';

/** Tells the answers of the object from those of any other class. */
export const CONTENT_TYPE = 'application/x-webhook-deliveries';

export function toUrl(verb: Verb): string {
  return ADDRESS + verb;
}

/** The verb of a URL, or something that is none. */
export function toVerb(url: string): string {
  return url.startsWith(ADDRESS) ? url.slice(ADDRESS.length) : '';
}

const LENGTH_BYTES = 4;

/** Plain data as JSON, and its bytes behind it as they are: length of the JSON, JSON, bytes. */
export function encode(data: unknown): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  const json = JSON.stringify(data, function (this: Record<string, unknown>, name, field) {
    // What it was before toJSON, which a Buffer has.
    const bytes = toBytes(this[name]);
    if (!bytes) return field;
    pieces.push(bytes);
    return { bytes: bytes.length };
  });
  const text = new TextEncoder().encode(json);
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
 * What {@link encode} was given. Its bytes are views of the frame.
 *
 * @throws {Error} Where it was cut short, or was never one, and without a piece of it in the message.
 */
export function decode(frame: ArrayBuffer): unknown {
  try {
    return read(frame);
  } catch {
    throw new Error('This is no frame of WebhookDeliveries.');
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
