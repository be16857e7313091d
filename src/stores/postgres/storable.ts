/** Characters that a text column rejects: NUL, and half of a surrogate pair. */
const REFUSED = /[\0\p{Cs}]/gu;

export function storable(text: string): string {
  return text.replace(REFUSED, '\ufffd');
}
