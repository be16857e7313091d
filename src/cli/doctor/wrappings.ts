import type { Candidate } from './cause.js';
import { PLAIN } from './json-styles.js';
import { endOfQuoted, type Members, type Node, readTree } from './json-tree.js';
import { toWriter } from './json-writer.js';
import { one, parseJson, withPluses } from './undone.js';

type Body = Candidate<Uint8Array>;

/** Yields the content of a body that is an envelope, or a value as a language prints it. */
export function* contentsOf(text: string): Generator<Body> {
  if (/^\{\s*(?:'|"[^"]*"\s*=>|:?\w+:? )/.test(text.slice(0, 200)) || text.includes('=>')) {
    // A pattern that could begin anywhere in a long run would take quadratic time.
    const ruby = (colon: string) => (piece: string) =>
      piece.replace(/\bnil\b/g, 'null').replace(/(?<!\s)\s*=>\s*/g, colon);
    const printed: readonly (readonly [string, (piece: string) => string])[] = [
      ['Python', (piece) => piece],
      ['console.log', (piece) => piece.replace(/(?<![\w$])([A-Za-z_$][\w$]*):/g, '"$1":')],
      ['Ruby', ruby(':')],
      ['Ruby', ruby(': ')],
    ];
    for (const [language, toJson] of printed)
      yield* one(inJson(text, toJson), 'printed', `a value as ${language} prints it`);
  }
  const root = readTree(text);
  if (root === undefined) return;
  if (root.kind === 'object') yield* namesOfForm(root.members);
  yield* partsOf(root);
}

const WORDS: Readonly<Record<string, string>> = { None: 'null', True: 'true', False: 'false' };

/** Turns a printed value into JSON, and keeps its white space. */
function inJson(text: string, outside: (piece: string) => string): string | undefined {
  const pieces: string[] = [];
  const quote = /['"`]|$/g;
  for (let at = 0; at < text.length; ) {
    quote.lastIndex = at;
    const start = quote.exec(text)?.index ?? text.length;
    const piece = outside(text.slice(at, start));
    pieces.push(piece.replace(/\b(?:None|True|False)\b/g, (word) => WORDS[word] ?? word));
    at = start === text.length ? start : endOfQuoted(text, start);
    if (at > start) pieces.push(quotedInJson(text.slice(start + 1, at - 1)));
  }
  const made = pieces.join('');
  return made === text || parseJson(made) === undefined ? undefined : made;
}

function quotedInJson(inner: string): string {
  const escaped = inner
    .replace(/\\x([0-9a-f]{2})/g, '\\u00$1')
    .replace(/\\(['`])/g, '$1')
    .replace(/(\\.)|"/g, (_, one) => one ?? '\\"');
  return `"${escaped}"`;
}

/** Undoes what a form parser makes of JSON: it takes the text up to the first "=" for a name. */
function* namesOfForm(members: Members): Generator<Body> {
  if (!/^\s*\{/.test(members[0]?.[0] ?? '')) return;
  const fields = members.map(([name, value]) =>
    value.kind === 'string' && value.text !== '' ? `${name}=${value.text}` : name,
  );
  for (const made of withPluses(fields.join('&')))
    yield* one(made, 'form_decoded', 'the JSON became the name of a field');
}

/** How many values of an envelope to look into at most. */
const MAX_PARTS = 50;

/** Yields the content of an envelope: JSON as a text or as a value, or anything in Base64. */
function* partsOf(root: Node): Generator<Body> {
  const write = toWriter();
  let left = MAX_PARTS;
  for (const [node, path] of pathsOf(root, '')) {
    if (node.kind === 'string') {
      const isInBase64 = /^(?:eyJ|ewo|eyA|W[3y]|H4sI)[\w+/-]+={0,2}$/.test(node.text);
      if (/^\s*[[{"]/.test(node.text)) yield* one(node.text, 'wrapped', path);
      if (!isInBase64) continue;
      yield* one(Buffer.from(node.text, 'base64'), 'wrapped', path);
    } else yield* one(write(node, PLAIN), 'wrapped', path);
    left -= 1;
    if (left === 0) return;
  }
}

/** Yields the texts, objects and lists within a value, each with its pointer. The shallow ones come first. */
function* pathsOf(root: Node, path: string): Generator<readonly [Node, path: string]> {
  const within: readonly (readonly [string | number, Node])[] =
    root.kind === 'object' ? root.members : root.kind === 'array' ? [...root.items.entries()] : [];
  for (const [name, node] of within)
    if (node.kind === 'string' || node.kind === 'object' || node.kind === 'array')
      yield [node, `${path}/${name}`];
  for (const [name, node] of within) yield* pathsOf(node, `${path}/${name}`);
}
