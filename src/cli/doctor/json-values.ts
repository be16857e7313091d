import { type CauseCode, type Step, step } from './cause.js';
import { FRACTIONS, neighboursOf, type Rewrite, WHOLES, type Written } from './json-numbers.js';
import { isNull, mapped, type Node, readTree, subsetsOf, textOf, valuesOf } from './json-tree.js';

/** A change that a program may have made to JSON, and how to undo it. */
export interface Change {
  /** The order in which changes are undone together. Of each rank, only one is undone. */
  readonly rank: number;
  readonly cost: number;
  readonly family: string;
  describe(): Step;
  /** Returns the tree before the change, or the same tree if there is nothing to undo. */
  undo(root: Node): Node;
}

/** A change of single values, and how to undo it. */
type ValueChange = readonly [
  rank: number,
  cost: number,
  code: CauseCode,
  detail: string,
  undo: (node: Node) => Node,
];

const FAMILIES: Partial<Record<CauseCode, string>> = {
  number_rewritten: 'numbers that were written in another way',
  date_rewritten: 'dates that were written in another way',
};

/** Members that hold an amount, which many encoders write with decimals. */
const AMOUNT =
  /price|value|amount|total|rate|cost|fee|tax|sum|balance|discount|paid|usd|eur|percent|score|lat|lon/i;

/** How many names to try every subset of. */
const MOST_NAMES = 8;

/** Yields the changes that values of a tree may have had: all of them, the amounts, or some of the members. */
export function* changesOfValues(root: Node): Generator<Change> {
  const values = valuesOf(root).filter(([node]) => node.kind !== 'object' || isEmptyObject(node));
  const outcomes = new Set<string>();
  for (const [rank, cost, code, detail, undo] of [...CHANGES, ...longNumbers(values)]) {
    const names = new Set<string>();
    let outcome = `${rank}`;
    for (const [node, name] of values) {
      const other = undo(node);
      if (other === node) continue;
      names.add(name);
      outcome += ` ${name} ${textOf(other)}`;
    }
    // Several encoders may write the same text.
    if (outcomes.size === outcomes.add(outcome).size) continue;
    const family = FAMILIES[code] ?? 'values that were changed, such as to null, texts or lists';
    for (const [only, more] of selectionsOf([...names]))
      yield {
        rank,
        family,
        cost: cost + more,
        describe: () => step(code, only === undefined ? detail : `${detail} (${listed(only)})`),
        undo: (tree) =>
          mapped(tree, (node, name) => (only?.has(name) === false ? node : undo(node))),
      };
  }
}

function listed(names: ReadonlySet<string>): string {
  const shown = [...names].slice(0, 5).join(', ');
  return names.size > 5 ? `${shown} and others` : shown;
}

/** Yields selections of members that may have been changed; `undefined` selects all. */
function* selectionsOf(
  names: readonly string[],
): Generator<readonly [only: ReadonlySet<string> | undefined, cost: number]> {
  if (names.length > 0) yield [undefined, 0];
  if (names.length < 2) return;
  const amounts = names.filter((name) => AMOUNT.test(name));
  const isSome = amounts.length > 0 && amounts.length < names.length;
  if (isSome) yield [new Set(amounts), 1];
  const alone = Math.log2(names.length) + 1;
  for (const name of names.slice(0, 2 ** 7)) yield [new Set([name]), alone];
  const first = [...new Set([...amounts, ...names])].slice(0, MOST_NAMES);
  for (const subset of subsetsOf(first))
    if (subset.size > 1 && subset.size < names.length) yield [subset, first.length];
}

/** Yields the changes of a parser that reads numbers as doubles, and so rounds them beyond 2^53. */
function* longNumbers(values: readonly (readonly [Node, string])[]): Generator<ValueChange> {
  const long = values.flatMap(([node]) =>
    node.kind === 'number' && node.digits.length > 15 ? [node.digits] : [],
  );
  for (const [index, digits] of [...new Set(long)].slice(0, 3).entries()) {
    const neighbours = neighboursOf(digits);
    const detail = 'whole numbers beyond 2^53, whose last digits a double does not have';
    for (const before of neighbours) {
      const undo = toNumber((given) => (given === digits ? before : given));
      yield [10 + index, 2 + Math.log2(neighbours.length), 'number_rewritten', detail, undo];
    }
  }
}

const toNumber =
  (rewrite: Rewrite) =>
  (node: Node): Node => {
    const digits = node.kind === 'number' ? rewrite(node.digits) : '';
    return node.kind !== 'number' || digits === node.digits ? node : { kind: 'number', digits };
  };

const DATE = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|[+-]00:?00| UTC)?$/;

/** Formats: the decimals of seconds, the character before the time, and the zone. */
const DATES =
  '6T+00:00,3TZ,6TZ,0T+00:00,0TZ,3T+00:00,7TZ,7T+00:00,3T+0000,0T+0000,6 +00:00,0 ,0  UTC';

/** Undoes a parser, such as Newtonsoft's, that converts texts that look like dates. */
function toDate(format: string): (node: Node) => Node {
  const [places, joint, zone] = [Number(format[0]), format[1], format.slice(2)];
  return (node) => {
    const [, day, time, fraction = ''] = DATE.exec(textOf(node).slice(0, 40)) ?? [];
    if (node.kind !== 'string' || day === undefined) return node;
    const kept = fraction.padEnd(places, '0').slice(0, places);
    const text = `${day}${joint}${time}${kept === '' ? '' : `.${kept}`}${zone}`;
    return text === node.text ? node : toText(text);
  };
}

const toWord = (text: string): Node => ({ kind: 'literal', word: WORDS.get(text) ?? text });
const toText = (text: string): Node => ({ kind: 'string', text });
const toDigits = (digits: string): Node => ({ kind: 'number', digits });
const WORDS = new Map([
  ...['true', 'false', 'null'].map((word) => [word, word] as const),
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
  ['1', 'true'],
  ['0', 'false'],
]);
const EMPTY_OBJECT: Node = { kind: 'object', members: [] };
const EMPTY_ARRAY: Node = { kind: 'array', items: [] };

const isEmptyObject = (node: Node) => node.kind === 'object' && node.members.length === 0;
const isEmptyArray = (node: Node) => node.kind === 'array' && node.items.length === 0;
const isNumber = (node: Node) => node.kind === 'number';
const isNumeric = (node: Node) =>
  node.kind === 'string' && /^-?\d{1,40}(?:\.\d{1,20})?$/.test(node.text);
const isInteger = (node: Node) => isNumeric(node) && Number.isInteger(Number(textOf(node)));
const isEmptyText = (node: Node) => node.kind === 'string' && node.text === '';
const isBit = (node: Node) => node.kind !== 'literal' && /^[01]$/.test(textOf(node));
const isWord = (node: Node) =>
  node.kind === 'string' && /^[a-z]/i.test(node.text) && WORDS.has(node.text);
const isJson = (node: Node) => node.kind === 'string' && /^[{[]/.test(node.text);

const swap =
  (fits: (node: Node) => boolean, other: (text: string) => Node | undefined) =>
  (node: Node): Node =>
    fits(node) ? (other(textOf(node)) ?? node) : node;

const value = (
  rank: number,
  cost: number,
  detail: string,
  fits: (node: Node) => boolean,
  other: (text: string) => Node | undefined,
): ValueChange => [rank, cost, 'value_rewritten', detail, swap(fits, other)];

const toNumbers = (rank: number, written: readonly Written[]) =>
  written.map(
    ([how, rewrite, cost]): ValueChange => [rank, cost, 'number_rewritten', how, toNumber(rewrite)],
  );

/** All changes of values. Undoing first turns texts into numbers, then rewrites numbers, then makes them texts. */
const CHANGES: readonly ValueChange[] = [
  value(25, 3, 'numbers have become texts, as in a form', isNumeric, toDigits),
  value(25, 5, 'numbers have become texts', isNumeric, (text) => toDigits(`${Number(text)}`)),
  value(25, 5, 'numbers have become texts', isInteger, (text) => toDigits(`${Number(text)}.0`)),
  value(26, 4, 'objects and lists have become texts', isJson, readTree),
  value(27, 4, 'true and false have become 1 and 0', isBit, toWord),
  value(28, 4, 'true, false or null have become texts', isWord, toWord),
  ...toNumbers(30, FRACTIONS),
  ...toNumbers(31, WHOLES),
  value(40, 3, 'texts have become numbers, as by JSON_NUMERIC_CHECK', isNumber, toText),
  ...DATES.split(',').map((format): ValueChange => {
    const undo = toDate(format);
    return [50, 4, 'date_rewritten', textOf(undo(toText('2026-11-20T10:00:00.1Z'))), undo];
  }),
  value(60, 2, 'an empty object is an empty array, as in PHP', isEmptyArray, () => EMPTY_OBJECT),
  value(60, 4, 'an empty array is an empty object, as in Lua', isEmptyObject, () => EMPTY_ARRAY),
  value(61, 2, 'empty texts have become null, as in Laravel', isNull, () => toText('')),
  value(61, 3, 'null has become an empty text', isEmptyText, () => toWord('null')),
];
