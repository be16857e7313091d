import { isJsonObject } from '../schemas/json.js';

/**
 * Parsed JSON as RFC 8785 writes it: members in the order of their names' UTF-16 units, no white space,
 * numbers and text as ECMAScript writes them. Two encodings of one value are the same text.
 *
 * Members that are `undefined`, which `unwrap` may leave, are none. Without recursion: a body may be nested deeper than a stack is high, which is why no library does it.
 *
 * @returns `undefined` where a number is beyond 2^53: it has lost digits, and two values may have become one.
 */
export function canonicalJson(value: unknown): string | undefined {
  let written = '';
  const left: Piece[] = [{ value }];
  for (let piece = left.pop(); piece; piece = left.pop()) {
    if ('text' in piece) {
      written += piece.text;
    } else if (Array.isArray(piece.value)) {
      const members = piece.value.map((member) => ({ before: '', value: member }));
      pushAll(left, '[', members, ']');
    } else if (isJsonObject(piece.value)) {
      // In UTF-16 units, as sort() compares. By entries: a member may be named __proto__.
      const entries = Object.entries(piece.value)
        .filter(([, member]) => member !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1));
      const members = entries.map(([name, member]) => ({
        before: `${JSON.stringify(name)}:`,
        value: member,
      }));
      pushAll(left, '{', members, '}');
    } else {
      if (typeof piece.value === 'number' && Math.abs(piece.value) > Number.MAX_SAFE_INTEGER)
        return undefined;
      written += JSON.stringify(piece.value);
    }
  }
  return written;
}

type Piece = { readonly text: string } | { readonly value: unknown };

/** The last piece is written first. */
function pushAll(
  left: Piece[],
  open: string,
  members: readonly { readonly before: string; readonly value: unknown }[],
  close: string,
): void {
  left.push({ text: close });
  for (let index = members.length - 1; index >= 0; index -= 1) {
    const { before, value } = members[index] as (typeof members)[number];
    left.push({ value }, { text: index > 0 ? `,${before}` : before });
  }
  left.push({ text: open });
}
