import { parseJson } from './undone.js';

/** JSON as it was written: members in order and with duplicate names, and numbers as digits. */
export type Node =
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, Node])[] }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'literal'; readonly word: string };

export type Members = (Node & { kind: 'object' })['members'];

export const isNull = (node: Node) => node.kind === 'literal' && node.word === 'null';

/** Returns a text, a number or a word as it is; the empty text for an object or an array. */
export function textOf(node: Node): string {
  if (node.kind === 'string') return node.text;
  if (node.kind === 'number') return node.digits;
  return node.kind === 'literal' ? node.word : '';
}

/** The deepest nesting that is read. */
const MAX_DEPTH = 200;

/** Returns the end of the quoted text at `start`. Not by a regular expression, which overflows on long texts. */
export function endOfQuoted(text: string, start: number): number {
  const quote = text.charAt(start);
  for (let end = text.indexOf(quote, start + 1); end >= 0; end = text.indexOf(quote, end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

const TOKEN = /[ \t\r\n]*(?:(")|(-?\d[\d.eE+-]*)|(true|false|null)|([{}[\],:]))/y;

/** Reads JSON; `undefined` if it is not valid, or nested too deep. */
export function readTree(text: string): Node | undefined {
  if (parseJson(text) === undefined) return undefined;
  const token = new RegExp(TOKEN);
  const next = () => token.exec(text) ?? [];
  const quoted = (): string => {
    const start = token.lastIndex - 1;
    token.lastIndex = endOfQuoted(text, start);
    const inner = text.slice(start + 1, token.lastIndex - 1);
    return inner.includes('\\') ? String(JSON.parse(`"${inner}"`)) : inner;
  };
  const value = (depth: number, [, quote, digits, word, sign] = next()): Node | undefined => {
    if (depth > MAX_DEPTH) return undefined;
    if (quote !== undefined) return { kind: 'string', text: quoted() };
    if (digits !== undefined) return { kind: 'number', digits };
    if (word !== undefined) return { kind: 'literal', word };
    return sign === '{' ? object(depth) : array(depth);
  };
  const object = (depth: number): Node | undefined => {
    const members: [string, Node][] = [];
    for (;;) {
      const [, quote, , , sign] = next();
      if (sign === '}') return { kind: 'object', members };
      if (quote === undefined) continue;
      const name = quoted();
      next();
      const member = value(depth + 1);
      if (member === undefined) return undefined;
      members.push([name, member]);
    }
  };
  const array = (depth: number): Node | undefined => {
    const items: Node[] = [];
    for (;;) {
      const found = next();
      if (found[4] === ']') return { kind: 'array', items };
      if (found[4] === ',') continue;
      const item = value(depth + 1, found);
      if (item === undefined) return undefined;
      items.push(item);
    }
  };
  return value(0);
}

/** Returns every value, with the name of the nearest member around it. */
export function valuesOf(root: Node): readonly (readonly [value: Node, name: string])[] {
  const values: (readonly [Node, string])[] = [];
  const add = (node: Node, name: string): void => {
    values.push([node, name]);
    if (node.kind === 'object') for (const [key, member] of node.members) add(member, key);
    if (node.kind === 'array') for (const item of node.items) add(item, name);
  };
  add(root, '');
  return values;
}

/** Maps the values of a tree; returns the same tree if no value changes. `name` is as in {@link valuesOf}. */
export function mapped(node: Node, change: (node: Node, name: string) => Node, name = ''): Node {
  // Most values stay as they are, so a copy is made at the first change.
  if (node.kind === 'object') {
    let members: (readonly [string, Node])[] | undefined;
    for (const [index, [key, value]] of node.members.entries()) {
      const other = mapped(value, change, key);
      if (other === value) continue;
      members ??= [...node.members];
      members[index] = [key, other];
    }
    return change(members === undefined ? node : { kind: 'object', members }, name);
  }
  if (node.kind === 'array') {
    let items: Node[] | undefined;
    for (const [index, item] of node.items.entries()) {
      const other = mapped(item, change, name);
      if (other === item) continue;
      items ??= [...node.items];
      items[index] = other;
    }
    return change(items === undefined ? node : { kind: 'array', items }, name);
  }
  return change(node, name);
}

/** Yields all subsets but the empty one. */
export function* subsetsOf(names: readonly string[]): Generator<ReadonlySet<string>> {
  for (let bits = 1; bits < 2 ** names.length; bits += 1)
    yield new Set(names.filter((_, index) => bits & (1 << index)));
}
