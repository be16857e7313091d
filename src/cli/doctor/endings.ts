import type { Candidate, CauseCode } from './cause.js';
import { LATIN_1 } from './charsets.js';
import { endOfQuoted } from './json-tree.js';
import { one } from './undone.js';

type Body = Candidate<Uint8Array>;

/** Makes candidates from Latin-1 text, unless the text is unchanged. */
const toBodies = (now: string) => (before: string, code: CauseCode, detail: string) =>
  before === now ? [] : one(Buffer.from(before, 'latin1'), code, detail);

/** Yields the body without white space, quotes and bytes that a program may have added around it. */
export function* withoutEndings(body: Uint8Array): Generator<Body> {
  const text = LATIN_1.decode(body);
  const to = toBodies(text);
  yield* to(
    text.replace(/\r?\n$/, ''),
    'line_end_gained',
    'a line end, as an editor or echo does,',
  );
  for (const trimmed of [text.trimEnd(), text.trimStart(), text.trim()])
    yield* to(trimmed, 'white_space_gained', 'before or after');
  yield* to(trimLines(text), 'white_space_gained', 'at the ends of lines of');
  yield* to(trimZeros(text), 'bytes_gained', 'zero bytes after');
  yield* to(text.slice(0, endOfJson(text)), 'bytes_gained', 'bytes after the JSON of');
  if (text.length > 1 && /^["']/.test(text) && text.at(-1) === text[0])
    yield* to(text.slice(1, -1), 'bytes_gained', 'quotes around');
}

/** Yields the body with other line ends, or with an ending that it may have lost. */
export function* withEndings(body: Uint8Array): Generator<Body> {
  const text = LATIN_1.decode(body);
  const to = toBodies(text);
  yield* to(`${text}\n`, 'line_end_lost', 'a line end');
  yield* to(`${text}\r\n`, 'line_end_lost', 'the line end \\r\\n');
  const newlines = text.replaceAll('\r\n', '\n');
  for (const before of [newlines, newlines.replace(/\n$/, ''), text.replaceAll('\r', '\n')])
    yield* to(before, 'line_ends_converted', '\\n');
  yield* to(newlines.replaceAll('\n', '\r\n'), 'line_ends_converted', '\\r\\n');
  yield* to(` ${text}`, 'cut_short', 'a space before it is missing');
  for (const end of ['\0', '}', ']}', '"}'])
    yield* to(text + end, 'cut_short', `${JSON.stringify(end)} is missing at its end`);
}

// Not by one regular expression, which would be slow on many spaces in a row.
function trimLines(text: string): string {
  const lines = /[ \t]\n/.test(text) ? text.split('\n') : [text];
  return lines.length === 1 ? text : lines.map((line) => line.trimEnd()).join('\n');
}

function trimZeros(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0) end -= 1;
  return text.slice(0, end);
}

/** Returns the index at which the first JSON value ends. */
export function endOfJson(text: string): number {
  const token = /["{}[\]]/g;
  let depth = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '"') {
      if (depth === 0) break;
      token.lastIndex = endOfQuoted(text, found.index);
    } else depth += /[{[]/.test(found[0]) ? 1 : -1;
    if (depth === 0) return found.index + 1;
  }
  return text.length;
}
