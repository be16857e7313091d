/** What a column of text refuses: NUL, and half of a surrogate pair. */
const REFUSED = /[\0\p{Cs}]/gu;

export function storable(text: string): string {
  return text.replace(REFUSED, '\ufffd');
}
