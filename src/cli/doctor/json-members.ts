import { loadFixture } from 'storefront-webhooks/testing';
import { type Candidate, step } from './cause.js';
import { readUtf8 } from './charsets.js';
import { type Members, mapped, type Node, readTree, subsetsOf, valuesOf } from './json-tree.js';

type Compare = (a: string, b: string) => number;

const byUnits: Compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

const ORDERS: readonly (readonly [message: string, Compare])[] = [
  ['The members of the body were sorted by name, and are in another order now.', byUnits],
  [
    'The members of the body were in the order of a jsonb column, and are in another one now.',
    (a, b) => Buffer.byteLength(a) - Buffer.byteLength(b) || byUnits(a, b),
  ],
  [
    'The members of the body were sorted by name in either case, and are in another order now.',
    (a, b) => byUnits(a.toLowerCase(), b.toLowerCase()),
  ],
];

const AS_LISTED =
  'The body was sent with its members as the specification lists them, and they are in another order now, as after sort_keys, a map of Go or a jsonb column.';

/** The body with its members in the orders that are likely. */
export function* reordered(root: Node): Generator<Candidate<Node>> {
  yield* sorted(root, AS_LISTED, (members) => asListed(members, []));
  for (const [message, compare] of ORDERS) yield* sorted(root, message, () => compare);
}

/** The most names that no record has of which each order is tried. */
const MAX_UNLISTED = 5;

/** As listed, with the names that no record has, such as those of custom fields, in each order. */
export function* reorderedFurther(root: Node): Generator<Candidate<Node>> {
  const unlisted = new Set<string>();
  for (const { members } of objectsOf(root))
    if (members.length > 1)
      for (const [name] of members) if (!recordOf(members).has(name)) unlisted.add(name);
  if (unlisted.size < 2 || unlisted.size > MAX_UNLISTED) return;
  for (const order of permutationsOf([...unlisted]))
    yield* sorted(root, AS_LISTED, (members) => asListed(members, order));
}

function asListed(members: Members, others: readonly string[]): Compare {
  const record = recordOf(members);
  const place = (name: string) => record.get(name) ?? 1000 + others.indexOf(name);
  return (a, b) => place(a) - place(b);
}

function* sorted(
  root: Node,
  message: string,
  compareIn: (members: Members) => Compare,
): Generator<Candidate<Node>> {
  const value = mapped(root, (node) => {
    if (node.kind !== 'object') return node;
    const compare = compareIn(node.members);
    const members = [...node.members].sort(([a], [b]) => compare(a, b));
    const isSame = members.every((member, index) => member === node.members[index]);
    return isSame ? node : { kind: 'object', members };
  });
  if (value !== root) yield { value, steps: [step('members_reordered', 'parser', message)] };
}

/** The most names of which each subset is tried. */
const MAX_MISSING = 8;

/** The body with all that its record has as well, as null. */
export function* withNulls(root: Node): Generator<Candidate<Node>> {
  yield* filled(root, new Set(missingIn(root)));
}

/** The same, with a part of it, or with one name where there are many. */
export function* withSomeNulls(root: Node): Generator<Candidate<Node>> {
  const missing = missingIn(root);
  const parts =
    missing.length > MAX_MISSING ? missing.map((name) => new Set([name])) : subsetsOf(missing);
  for (const names of parts) yield* filled(root, names);
}

function missingIn(root: Node): readonly string[] {
  const missing = new Set<string>();
  for (const { members } of objectsOf(root))
    for (const name of recordOf(members).keys()) if (!has(members, name)) missing.add(name);
  return [...missing];
}

function* filled(root: Node, names: ReadonlySet<string>): Generator<Candidate<Node>> {
  const value = mapped(root, (node) => (node.kind === 'object' ? withMissing(node, names) : node));
  if (value !== root) yield { value, steps: [step('value_rewritten', 'parser', DROPPED)] };
}

const DROPPED =
  'Members that are null were taken out of the body, as by Gson or jsonb_strip_nulls.';

/** Each before the first one that the record has after it. */
function withMissing(node: Node & { kind: 'object' }, names: ReadonlySet<string>): Node {
  const record = recordOf(node.members);
  const members = [...node.members];
  for (const [name, place] of record) {
    if (!names.has(name) || has(node.members, name)) continue;
    const next = members.findIndex(([other]) => (record.get(other) ?? -1) > place);
    members.splice(next < 0 ? members.length : next, 0, [name, { kind: 'literal', word: 'null' }]);
  }
  return members.length === node.members.length ? node : { kind: 'object', members };
}

const has = (members: Members, name: string) => members.some(([given]) => given === name);

function* objectsOf(root: Node): Generator<Node & { kind: 'object' }> {
  for (const [node] of valuesOf(root)) if (node.kind === 'object') yield node;
}

type Record = ReadonlyMap<string, number>;

const NONE: Record = new Map();

/** The record that most of the members are of, by the places of its names. */
function recordOf(members: Members): Record {
  const shared = (record: Record) => members.filter(([name]) => record.has(name)).length;
  return records().reduce(
    (best, record) =>
      2 * shared(record) > members.length && shared(record) > shared(best) ? record : best,
    NONE,
  );
}

/** The fixtures show each record with its members as the specification lists them. */
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
