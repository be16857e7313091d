import { type Candidate, type CauseCode, step } from './cause.js';
import { reordered, reorderedFurther, withNulls, withSomeNulls } from './json-members.js';
import { mapped, type Node, subsetsOf, valuesOf } from './json-tree.js';

/** What some encoder or parser has made of the values, undone: each as a whole body of JSON. */
export function* earlierValues(root: Node): Generator<Candidate<Node>> {
  yield* likelyValues(root);
  yield* reorderedFurther(root);
  yield* withSomeNulls(root);
  yield* longNumbers(root);
  yield* numberSubsets(root);
  yield* valueSubsets(root);
}

/** Two changes, of different kinds: such as members in another order, and numbers that have lost their .0. */
export function* valuesChangedTwice(root: Node): Generator<Candidate<Node>> {
  for (const [index, kind] of KINDS.entries())
    for (const last of kind(root))
      for (const earlier of KINDS.slice(index + 1))
        for (const { value, steps } of earlier(last.value))
          yield { value, steps: [...steps, ...last.steps] };
}

function* likelyValues(root: Node): Generator<Candidate<Node>> {
  for (const kind of KINDS) yield* kind(root);
}

const KINDS = [reordered, renumbered, redated, revalued] as const;

function changed(
  value: Node,
  code: CauseCode,
  message: string,
  root: Node,
): readonly Candidate<Node>[] {
  return value === root ? [] : [{ value, steps: [step(code, 'parser', message)] }];
}

/** Members that hold an amount, which many write with decimals. */
const AMOUNT =
  /price|value|amount|total|rate|cost|fee|tax|sum|balance|discount|paid|usd|eur|percent|score|lat|lon/i;

type Rewrite = (digits: string) => string;

const isWhole = (digits: string) => /^-?\d+$/.test(digits);
const isPlain = (digits: string) => /^-?\d+(\.\d+)?$/.test(digits);
const toPlaces =
  (places: number): Rewrite =>
  (digits) => {
    const [whole = '', fraction = ''] = digits.split('.');
    if (!isPlain(digits) || fraction.length > places) return digits;
    return `${whole}.${fraction.padEnd(places, '0')}`;
  };
const withPoint: Rewrite = (digits) => (isWhole(digits) ? `${digits}.0` : digits);
const toSeventeen: Rewrite = (digits) =>
  digits.includes('.') ? String(Number(digits).toPrecision(17)).replace(/\.?0+$/, '') : digits;
const asPython: Rewrite = (digits) => {
  const written = String(Number(digits));
  if (/^-?\d{17,}$/.test(written) && Math.abs(Number(digits)) >= 1e16)
    return Number(digits)
      .toExponential()
      .replace(/e\+(\d)$/, 'e+0$1');
  return written.replace(/e([+-])(\d)$/, 'e$10$2');
};
const asJava: Rewrite = (digits) => {
  const number = Number(digits);
  if (number === 0) return '0.0';
  const isShort = Math.abs(number) >= 1e-3 && Math.abs(number) < 1e7;
  const [head = '', exponent] = isShort ? [String(number)] : number.toExponential().split('e');
  const point = head.includes('.') ? head : `${head}.0`;
  return exponent === undefined ? point : `${point}E${Number(exponent)}`;
};
const asDecimal: Rewrite = (digits) => {
  const [, sign = '', whole = '', fraction = '', exponent = ''] =
    /^(-?)(\d+)(?:\.(\d*?)0*)?[eE]([+-]?\d{1,3})$/.exec(digits) ?? [];
  if (exponent === '') return digits;
  const point = whole.length + Number(exponent);
  const all = `${'0'.repeat(Math.max(0, 1 - point))}${whole}${fraction}`.padEnd(point, '0');
  const at = Math.max(1, point);
  return `${sign}${all.slice(0, at)}${at < all.length ? `.${all.slice(at)}` : ''}`;
};
const asJs: Rewrite = (digits) => JSON.stringify(Number(digits));

const LOST =
  'A parser read the numbers of the body and wrote them in another way: they were sent as';

const REWRITES: readonly (readonly [written: string, Rewrite, only: 'amounts' | 'all'])[] = [
  ['JSON.stringify writes them, without a .0', asJs, 'all'],
  ['10.0, with the amounts as floats', withPoint, 'amounts'],
  ['10.00, with two decimals for the amounts', toPlaces(2), 'amounts'],
  ['10.0, each one as a float', withPoint, 'all'],
  ['10.00, with two decimals each', toPlaces(2), 'all'],
  [
    '19.899999999999999, with 17 digits, as PHP does by serialize_precision = 17',
    toSeventeen,
    'all',
  ],
  ['1e-07 or 1e+16, as Python does', asPython, 'all'],
  ['0.0000001, without an exponent', asDecimal, 'all'],
  ['1.0E10, as Java does', asJava, 'amounts'],
  ['10.000000, with six decimals for the amounts', toPlaces(6), 'amounts'],
  ['10.0000, with four decimals for the amounts', toPlaces(4), 'amounts'],
  ['10.00000000, with eight decimals for the amounts', toPlaces(8), 'amounts'],
];

function rewriteNumbers(root: Node, rewrite: Rewrite, fits: (name: string) => boolean): Node {
  return mapped(root, (node, name) => {
    if (node.kind !== 'number' || !fits(name)) return node;
    const digits = rewrite(node.digits);
    return digits === node.digits ? node : { kind: 'number', digits };
  });
}

function* renumbered(root: Node): Generator<Candidate<Node>> {
  for (const [written, rewrite, only] of REWRITES) {
    const value = rewriteNumbers(root, rewrite, (name) => only === 'all' || AMOUNT.test(name));
    yield* changed(value, 'number_rewritten', `${LOST} ${written}.`, root);
  }
}

/** The most names of which each subset is tried. */
const MAX_NAMES = 7;

/** Where some numbers have lost their decimals, and others never had any. */
function* numberSubsets(root: Node): Generator<Candidate<Node>> {
  const names = namesOf(root, (node) => node.kind === 'number' && isPlain(node.digits));
  // What holds an amount comes first, and what is whole more often than not is left out first.
  const sorted = names.sort((a, b) => Number(AMOUNT.test(b)) - Number(AMOUNT.test(a)));
  const message = `${LOST} 10.0 or 10.00 in some of the members.`;
  for (const subset of subsetsOf(sorted.slice(0, MAX_NAMES))) {
    for (const rewrite of [withPoint, toPlaces(2)]) {
      const value = rewriteNumbers(root, rewrite, (name) => subset.has(name));
      yield* changed(value, 'number_rewritten', message, root);
    }
  }
}

/** Past 2^53, a parser that takes numbers for doubles rounds them. */
function* longNumbers(root: Node): Generator<Candidate<Node>> {
  const long = new Set<string>();
  for (const [node] of valuesOf(root))
    if (node.kind === 'number' && /^-?\d{16,19}$/.test(node.digits)) long.add(node.digits);
  const message =
    'A parser took a number of more than 2^53 for a double, and it lost its last digits.';
  for (const digits of [...long].slice(0, 2)) {
    const rounded = Number(digits);
    if (Number.isSafeInteger(rounded)) continue;
    const center = BigInt(rounded);
    for (let distance = 0n; distance <= 1024n; distance += 1n) {
      const near = [center + distance, center - distance].filter((one) => Number(one) === rounded);
      if (near.length === 0) break;
      for (const one of near) {
        const value = rewriteNumbers(
          root,
          (given) => (given === digits ? String(one) : given),
          () => true,
        );
        yield* changed(value, 'number_rewritten', message, root);
      }
    }
  }
}

const DATE = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]00:?00| UTC)?$/;

const DATES: readonly (readonly [places: number, joint: string, zone: string])[] = [
  [6, 'T', '+00:00'],
  [3, 'T', 'Z'],
  [6, 'T', 'Z'],
  [0, 'T', '+00:00'],
  [0, 'T', 'Z'],
  [3, 'T', '+00:00'],
  [7, 'T', 'Z'],
  [7, 'T', '+00:00'],
  [3, 'T', '+0000'],
  [0, 'T', '+0000'],
  [6, ' ', '+00:00'],
  [0, ' ', ''],
  [0, ' ', ' UTC'],
];

/** Some parsers take what looks like a time for one, such as Newtonsoft's, and write it in their own way. */
function* redated(root: Node): Generator<Candidate<Node>> {
  for (const [places, joint, zone] of DATES) {
    const value = mapped(root, (node) => {
      if (node.kind !== 'string') return node;
      const text = node.text.replace(DATE, (_, day, time, fraction = '') => {
        const kept = String(fraction).padEnd(places, '0').slice(0, places);
        return `${day}${joint}${time}${kept === '' ? '' : `.${kept}`}${zone}`;
      });
      return text === node.text ? node : { kind: 'string', text };
    });
    const message = `A parser took the times of the body for dates and wrote them in another way: they were sent as 2026-11-20${joint}10:00:00${places === 0 ? '' : `.${'0'.repeat(places)}`}${zone}.`;
    yield* changed(value, 'date_rewritten', message, root);
  }
}

const EMPTY_OBJECT: Node = { kind: 'object', members: [] };
const EMPTY_ARRAY: Node = { kind: 'array', items: [] };
const EMPTY_TEXT: Node = { kind: 'string', text: '' };

const isEmptyArray = (node: Node) => node.kind === 'array' && node.items.length === 0;
const isEmptyObject = (node: Node) => node.kind === 'object' && node.members.length === 0;
const isNull = (node: Node) => node.kind === 'literal' && node.word === 'null';

const TO_ARRAY = 'An empty object of the body has become an empty array, as in PHP.';
const TO_NULL =
  "Empty texts of the body have become null, as by Laravel's ConvertEmptyStringsToNull.";

function* revalued(root: Node): Generator<Candidate<Node>> {
  const swap = (fits: (node: Node) => boolean, other: Node) =>
    mapped(root, (node) => (fits(node) ? other : node));
  const rewritten = (value: Node, message: string) =>
    changed(value, 'value_rewritten', message, root);
  yield* rewritten(swap(isEmptyArray, EMPTY_OBJECT), TO_ARRAY);
  yield* rewritten(
    swap(isEmptyObject, EMPTY_ARRAY),
    'An empty array of the body has become an empty object, as in Lua or with JSON_FORCE_OBJECT.',
  );
  yield* rewritten(swap(isNull, EMPTY_TEXT), TO_NULL);
  const filled = mapped(root, (node) => {
    if (node.kind !== 'object' || !node.members.some(([, one]) => isNull(one))) return node;
    return { kind: 'object', members: node.members.filter(([, one]) => !isNull(one)) };
  });
  yield* rewritten(filled, 'Members that are null were added to the body.');
  yield* withNulls(root);
  const asText = mapped(root, (node, name) =>
    node.kind === 'number' && AMOUNT.test(name) ? { kind: 'string', text: node.digits } : node,
  );
  yield* rewritten(asText, 'Amounts of the body were sent as text, and have become numbers.');
  const asNumber = mapped(root, (node, name) =>
    node.kind === 'string' && AMOUNT.test(name) && isPlain(node.text)
      ? { kind: 'number', digits: node.text }
      : node,
  );
  yield* rewritten(asNumber, 'Amounts of the body were sent as numbers, and have become text.');
  const asList = mapped(root, (node) => {
    if (node.kind !== 'object' || !node.members.every(([name], index) => name === String(index)))
      return node;
    return node.members.length === 0
      ? node
      : { kind: 'array', items: node.members.map(([, item]) => item) };
  });
  yield* rewritten(
    asList,
    'Lists of the body have become objects with numbers as names, as with JSON_FORCE_OBJECT.',
  );
}

function* valueSubsets(root: Node): Generator<Candidate<Node>> {
  const swaps = [
    [isEmptyArray, EMPTY_OBJECT, TO_ARRAY],
    [isNull, EMPTY_TEXT, TO_NULL],
  ] as const;
  for (const [fits, other, message] of swaps) {
    for (const subset of subsetsOf(namesOf(root, fits).slice(0, MAX_NAMES))) {
      const value = mapped(root, (node, name) => (fits(node) && subset.has(name) ? other : node));
      yield* changed(value, 'value_rewritten', message, root);
    }
  }
}

function namesOf(root: Node, fits: (node: Node) => boolean): string[] {
  const names = new Set<string>();
  for (const [node, name] of valuesOf(root)) if (fits(node)) names.add(name);
  return [...names];
}
