import { loadFixture } from 'storefront-webhooks/testing';
import { type CauseCode, step } from './cause.js';
import { readUtf8 } from './charsets.js';
import { type Members, mapped, type Node, readTree, subsetsOf, valuesOf } from './json-tree.js';
import type { Change } from './json-values.js';

type ObjectNode = Node & { kind: 'object' };
type ChangeObject = (node: ObjectNode) => Node;

/** Yields the changes that the members of a tree may have had: other names, another order, or missing members. */
export function* changesOfMembers(root: Node): Generator<Change> {
  const objects = [...valuesOf(root)].flatMap(([node]) => (node.kind === 'object' ? [node] : []));
  yield* renamed(objects);
  yield* reordered(objects);
  yield* withoutNulls();
  yield* withMissing(objects);
}

function toChange(
  [rank, family, code]: readonly [number, string, CauseCode],
  cost: number,
  detail: string,
  undoOne: ChangeObject,
): Change {
  const undo = (tree: Node) =>
    mapped(tree, (node) => (node.kind === 'object' ? undoOne(node) : node));
  return { rank, family, cost, describe: () => step(code, detail), undo };
}

const NAMES = [15, 'members that were renamed', 'members_renamed'] as const;

const words = (name: string) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[-\s]/g, '_')
    .toLowerCase();
const camel = (name: string) =>
  words(name).replace(/(?<!_)_+([a-z\d])/g, (_, letter) => letter.toUpperCase());

const CASES: readonly (readonly [example: string, (name: string) => string, cost: number])[] = [
  ['product_id', words, 3],
  ['productId', camel, 4],
  ['ProductId', (name) => camel(name).replace(/^[a-z]/, (first) => first.toUpperCase()), 5],
  ['product-id', (name) => words(name).replaceAll('_', '-'), 5],
  ['PRODUCT_ID', (name) => words(name).toUpperCase(), 5],
];

/** How many objects to search for a renamed member. */
const MOST_OBJECTS = 20;

function* renamed(objects: readonly ObjectNode[]): Generator<Change> {
  const withNames =
    (rename: (name: string) => string): ChangeObject =>
    (node) => {
      const members = node.members.map(([name, value]) => [rename(name), value] as const);
      const isSame = members.every(([name], index) => name === node.members[index]?.[0]);
      return isSame ? node : { kind: 'object', members };
    };
  for (const [example, rename, cost] of CASES)
    yield toChange(NAMES, cost, `they were sent with names such as ${example}`, withNames(rename));
  const prefix = prefixOf(objects[0]?.members ?? []);
  if (prefix !== '') {
    const cut = (name: string) => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
    yield toChange(NAMES, 4, `each got ${prefix} before its name`, withNames(cut));
  }
  for (const { members } of objects.slice(0, MOST_OBJECTS)) {
    const record = recordOf(members);
    const unlisted = members.map(([name]) => name).filter((name) => !record.has(name));
    const missing = missingIn([{ kind: 'object', members }]);
    const cost = 3 + Math.log2(unlisted.length * missing.length);
    for (const now of cost < 11 ? unlisted : [])
      for (const before of missing) {
        const rename = (name: string) => (name === now ? before : name);
        yield toChange(NAMES, cost, `${before} was renamed to ${now}`, withNames(rename));
      }
  }
}

/** Returns what all names begin with, up to the last separator in it. */
function prefixOf(members: Members): string {
  const [[first = ''] = []] = members;
  let { length } = first;
  for (const [name] of members) {
    let same = 0;
    while (same < length && name[same] === first[same]) same += 1;
    length = same;
  }
  while (length > 0 && !/[_.-]/.test(first[length - 1] ?? '')) length -= 1;
  return members.length < 2 ? '' : first.slice(0, length);
}

type Compare = (a: string, b: string) => number;

const ORDER = [20, 'members in another order', 'members_reordered'] as const;

const byUnits: Compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

const ORDERS: readonly (readonly [detail: string, Compare])[] = [
  ['sorted by name', byUnits],
  [
    'in the order of a jsonb column',
    (a, b) => Buffer.byteLength(a) - Buffer.byteLength(b) || byUnits(a, b),
  ],
  ['sorted by name in either case', (a, b) => byUnits(a.toLowerCase(), b.toLowerCase())],
];

const AS_LISTED = 'as the specification lists them';

/** How many names that no record has may be tried in every order. */
const MOST_UNLISTED = 5;

function* reordered(objects: readonly ObjectNode[]): Generator<Change> {
  const inOrder = (cost: number, detail: string, compareIn: (members: Members) => Compare) =>
    toChange(ORDER, cost, detail, (node) => sorted(node, compareIn(node.members)));
  yield inOrder(2, AS_LISTED, (members) => asListed(members, []));
  const known = new Set<string>();
  for (const [detail, compare] of ORDERS) {
    const order = objects.map(({ members }) => members.map(([name]) => name).sort(compare));
    if (known.size !== known.add(JSON.stringify(order)).size)
      yield inOrder(3, detail, () => compare);
  }
  const unlisted = new Set<string>();
  for (const { members } of objects) {
    const record = recordOf(members);
    if (members.length > 1 && unlisted.size <= MOST_UNLISTED)
      for (const [name] of members) if (!record.has(name)) unlisted.add(name);
  }
  if (unlisted.size < 2 || unlisted.size > MOST_UNLISTED) return;
  const orders = [...permutationsOf([...unlisted])];
  for (const order of orders)
    yield inOrder(2 + Math.log2(orders.length), AS_LISTED, (members) => asListed(members, order));
}

function asListed(members: Members, others: readonly string[]): Compare {
  const record = recordOf(members);
  const place = (name: string) => record.get(name) ?? 1000 + others.indexOf(name);
  return (a, b) => place(a) - place(b);
}

function sorted(node: ObjectNode, compare: Compare): Node {
  const members = [...node.members].sort(([a], [b]) => compare(a, b));
  const isSame = members.every((member, index) => member === node.members[index]);
  return isSame ? node : { kind: 'object', members };
}

const MEMBERS = [70, 'members that were added or taken out', 'value_rewritten'] as const;

const NULL: Node = { kind: 'literal', word: 'null' };

function* withoutNulls(): Generator<Change> {
  yield toChange(MEMBERS, 4, 'members that are null were added', (node) => {
    const members = node.members.filter(([, one]) => one.kind !== 'literal' || one.word !== 'null');
    return members.length === node.members.length ? node : { kind: 'object', members };
  });
  const asObjects = 'lists have become objects, as with JSON_FORCE_OBJECT';
  yield toChange(MEMBERS, 4, asObjects, (node) => {
    const isList = node.members.every(([name], index) => name === String(index));
    if (!isList || node.members.length === 0) return node;
    return { kind: 'array', items: node.members.map(([, item]) => item) };
  });
}

/** How many names to try every subset of. */
const MOST_MISSING = 8;

/** Yields the changes that removed members that are null. */
function* withMissing(objects: readonly ObjectNode[]): Generator<Change> {
  const missing = missingIn(objects);
  const parts =
    missing.length > MOST_MISSING ? missing.map((name) => new Set([name])) : subsetsOf(missing);
  const detail = 'members that are null were taken out, as by Gson or jsonb_strip_nulls';
  for (const names of [new Set(missing), ...parts]) {
    const cost = names.size === missing.length ? 3 : 3 + Math.min(missing.length, 5);
    yield toChange(MEMBERS, cost, detail, (node) => filled(node, names));
  }
}

function missingIn(objects: readonly ObjectNode[]): readonly string[] {
  const missing = new Set<string>();
  for (const { members } of objects) {
    const names = new Set(members.map(([name]) => name));
    for (const name of recordOf(members).keys()) if (!names.has(name)) missing.add(name);
  }
  return [...missing];
}

/** Adds the missing members as null, each before the first member that follows it in the record. */
function filled(node: ObjectNode, names: ReadonlySet<string>): Node {
  const record = recordOf(node.members);
  const given = new Set(node.members.map(([name]) => name));
  const members = [...node.members];
  for (const [name, place] of record) {
    if (!names.has(name) || given.has(name)) continue;
    const next = members.findIndex(([other]) => (record.get(other) ?? -1) > place);
    members.splice(next < 0 ? members.length : next, 0, [name, NULL]);
  }
  return members.length === node.members.length ? node : { kind: 'object', members };
}

type Record = ReadonlyMap<string, number>;

const NONE: Record = new Map();

/** Finds the record that has most of these members. Maps its names to their places. */
function recordOf(members: Members): Record {
  const shared = (record: Record) =>
    members.reduce((count, [name]) => count + Number(record.has(name)), 0);
  let best = { record: NONE, count: members.length / 2 };
  for (const record of records()) {
    const count = shared(record);
    if (count > best.count) best = { record, count };
  }
  return best.record;
}

/** Fixtures that show each record with its members in the order of the specification. */
const SHOWN = ['order:paid', 'product:out_of_stock', 'feedback:created', 'query:created'];
let read: readonly Record[] | undefined;

function records(): readonly Record[] {
  read ??= SHOWN.map((name) => {
    const root = readTree(readUtf8(loadFixture(name).body) ?? '');
    return new Map(root?.kind === 'object' ? root.members.map(([key], place) => [key, place]) : []);
  });
  return read;
}

function* permutationsOf(names: readonly string[]): Generator<readonly string[]> {
  if (names.length === 0) yield [];
  for (const first of names)
    for (const rest of permutationsOf(names.filter((name) => name !== first)))
      yield [first, ...rest];
}
