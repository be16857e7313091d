const CHUNK = 0x8000;

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let start = 0; start < bytes.length; start += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(binary);
}

export function fromBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** What a column of text refuses: NUL, and half of a surrogate pair. */
const REFUSED = /[\0\p{Cs}]/gu;

export function storable(text: string): string {
  return text.replace(REFUSED, '\ufffd');
}
