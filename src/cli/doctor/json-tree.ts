/** JSON as it was written: members in their order, also two of one name, and each number by its digits. */
export type Node =
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, Node])[] }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'literal'; readonly word: string };

export type Members = (Node & { kind: 'object' })['members'];

/** The deepest nesting that is looked into. */
const MAX_DEPTH = 200;

const TOKEN = /[ \t\r\n]*(?:("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)|(true|false|null)|([{}[\],:]))/y;

/** Reads JSON; `undefined` where it is none, or where it is nested too deep. */
export function readTree(text: string): Node | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const token = new RegExp(TOKEN);
  const next = () => token.exec(text) ?? [];
  const value = (depth: number, [, string, digits, word, sign] = next()): Node | undefined => {
    if (depth > MAX_DEPTH) return undefined;
    if (string !== undefined) return { kind: 'string', text: unquote(string) };
    if (digits !== undefined) return { kind: 'number', digits };
    if (word !== undefined) return { kind: 'literal', word };
    return sign === '{' ? object(depth) : array(depth);
  };
  const object = (depth: number): Node | undefined => {
    const members: [string, Node][] = [];
    for (;;) {
      const [, name, , , sign] = next();
      if (sign === '}') return { kind: 'object', members };
      if (name === undefined) continue;
      next();
      const member = value(depth + 1);
      if (member === undefined) return undefined;
      members.push([unquote(name), member]);
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

function unquote(token: string): string {
  return token.includes('\\') ? String(JSON.parse(token)) : token.slice(1, -1);
}

/** A tree in which some of the values are others. `name` is that of the nearest member around a value. */
function mapTree(node: Node, change: (node: Node, name: string) => Node, name = ''): Node {
  if (node.kind === 'object') {
    const members = node.members.map(([key, value]) => [key, mapTree(value, change, key)] as const);
    return change({ kind: 'object', members }, name);
  }
  if (node.kind === 'array') {
    const items = node.items.map((item) => mapTree(item, change, name));
    return change({ kind: 'array', items }, name);
  }
  return change(node, name);
}

/** Every value, with the name of the nearest member around it. */
export function* valuesOf(node: Node, name = ''): Generator<readonly [value: Node, name: string]> {
  yield [node, name];
  if (node.kind === 'object')
    for (const [key, member] of node.members) yield* valuesOf(member, key);
  if (node.kind === 'array') for (const item of node.items) yield* valuesOf(item, name);
}

/** {@link mapTree}, which gives the same tree where nothing in it is changed. */
export function mapped(root: Node, change: (node: Node, name: string) => Node): Node {
  let isChanged = false;
  const value = mapTree(root, (node, name) => {
    const other = change(node, name);
    isChanged ||= other !== node;
    return other;
  });
  return isChanged ? value : root;
}

/** All but the empty one. */
export function* subsetsOf(names: readonly string[]): Generator<ReadonlySet<string>> {
  for (let bits = 1; bits < 2 ** names.length; bits += 1)
    yield new Set(names.filter((_, index) => bits & (1 << index)));
}
