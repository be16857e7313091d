/** Whether a value is bytes, also where it comes from another realm, as in some test runners. */
export function isBytes(value: unknown): value is Uint8Array {
  return (
    ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === '[object Uint8Array]'
  );
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => HEX[byte]).join('');
}

const NIBBLE = new Uint8Array(128);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  NIBBLE[digit.charCodeAt(0)] = value;
  NIBBLE[digit.toUpperCase().charCodeAt(0)] = value;
}

/** Decodes text already known to be hexadecimal digits. */
export function fromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const high = NIBBLE[hex.charCodeAt(2 * i)] ?? 0;
    const low = NIBBLE[hex.charCodeAt(2 * i + 1)] ?? 0;
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}
