/** Whether a value is a Uint8Array, including one from another realm, as in some test runners. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && (value as Uint8Array)[Symbol.toStringTag] === 'Uint8Array';
}

// jsdom, in which test runners also run the tests of servers, has neither of them.
export const { TextEncoder, TextDecoder } = globalThis.TextEncoder
  ? globalThis
  : process.getBuiltinModule('util');

const encoder = new TextEncoder();

export function toUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/**
 * Throws if the bytes are not UTF-8: a lossy decoder would drop a byte order mark and replace broken UTF-8 with question
 * marks.
 */
export const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Copies a text that was cut from a longer one. A slice keeps the whole text in memory. */
export function copyText(text: string): string {
  return utf8.decode(toUtf8(text));
}

/** Maps each byte to one character, to search for text in bytes that may not be valid text. */
export function toText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (let i = 0; i < bytes.length; i++) hex += HEX[bytes[i] ?? 0];
  return hex;
}

const NIBBLE = new Uint8Array(128);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  NIBBLE[digit.charCodeAt(0)] = value;
  NIBBLE[digit.toUpperCase().charCodeAt(0)] = value;
}

/** Decodes hexadecimal digits into the target. The text has to be checked before: two digits for each byte. */
export function decodeHex(hex: string, target: Uint8Array): Uint8Array {
  for (let i = 0; i < target.length; i++) {
    const high = NIBBLE[hex.charCodeAt(2 * i)] ?? 0;
    const low = NIBBLE[hex.charCodeAt(2 * i + 1)] ?? 0;
    target[i] = (high << 4) | low;
  }
  return target;
}

/** Names the type of a value, for an error message. */
export function nameType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : typeof value;
}
