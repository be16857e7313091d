import { type Node, valuesOf } from './json-tree.js';
import { type Escapes, type Layout, quote, SETS, type Written } from './json-writer.js';

/** A way to write JSON. */
export interface Style extends Written {
  readonly name: string;
  /** About the logarithm of how many other styles are as common. */
  readonly cost: number;
}

const escaping = (
  beyondAscii: Escapes['beyondAscii'],
  set: Escapes['set'] = 'none',
  slash = false,
): Escapes => ({ beyondAscii, set, slash, longControls: false });
const JS = escaping('raw');
const PYTHON = escaping('lower', 'delete');
const PHP = escaping('lower', 'none', true);
const GO = escaping('raw', 'html');
const DOTNET = escaping('upper', 'dotnet');

const oneLine = (comma: string, colon: string, pad = ''): Layout => ({ comma, colon, pad });
const lines = (indent: string, colon = ': ', comma = ','): Layout => ({ comma, colon, indent });
const COMPACT = oneLine(',', ':');
const SPACED = oneLine(', ', ': ');
const TWO = lines('  ');
const FOUR = lines('    ');
const TAB = lines('\t');
const JACKSON: Layout = { ...lines('  ', ' : '), empty: ' ', flatArrays: true };
const MONGO = oneLine(', ', ' : ', ' ');

const toStyle = (name: string, layout: Layout, escapes: Escapes, cost = 8): Style => ({
  name,
  cost,
  layout,
  escapes,
});

/** JSON as JSON.stringify writes it. */
export const PLAIN = toStyle('JSON.stringify', COMPACT, JS);

/** The common encoders. Of those that write the same, the most common one comes first. */
const ENCODERS = [
  PLAIN,
  toStyle("Python's json.dumps", SPACED, PYTHON),
  toStyle("PHP's json_encode", COMPACT, PHP),
  toStyle("Python's json.dumps(ensure_ascii=False)", SPACED, JS),
  toStyle("Python's json.dumps(separators=(',', ':'))", COMPACT, PYTHON),
  toStyle("PHP's json_encode(JSON_UNESCAPED_UNICODE)", COMPACT, escaping('raw', 'lines', true)),
  toStyle("PHP's json_encode(JSON_UNESCAPED_SLASHES)", COMPACT, escaping('lower')),
  toStyle(
    "PHP's json_encode(JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES)",
    COMPACT,
    escaping('raw', 'lines'),
  ),
  toStyle("Swift's JSONEncoder", COMPACT, escaping('raw', 'none', true)),
  toStyle("Go's json.Marshal", COMPACT, GO),
  toStyle("Java's Gson", COMPACT, escaping('raw', 'gson')),
  toStyle(".NET's System.Text.Json", COMPACT, DOTNET),
  toStyle(
    "PHP's json_encode(JSON_HEX_TAG | JSON_HEX_AMP | JSON_HEX_APOS | JSON_HEX_QUOT)",
    COMPACT,
    escaping('lower', 'phpHex', true),
  ),
  toStyle('jq -c', COMPACT, escaping('raw', 'delete')),
  toStyle('JSON.stringify(…, null, 2)', TWO, JS),
  toStyle("Python's json.dumps(indent=2)", TWO, PYTHON),
  toStyle('JSON.stringify(…, null, 4)', FOUR, JS),
  toStyle("PHP's json_encode(JSON_PRETTY_PRINT)", FOUR, PHP),
  toStyle("Python's json.dumps(indent=4)", FOUR, PYTHON),
  toStyle("JSON.stringify(…, null, '\\t')", TAB, JS),
  toStyle(".NET's System.Text.Json, indented", TWO, DOTNET),
  toStyle("Go's json.MarshalIndent", TWO, GO),
  toStyle("Java's Jackson, indented", JACKSON, JS),
  toStyle("Perl's JSON::PP, pretty", lines('   ', ' : '), JS),
  toStyle("MongoDB's tojson", MONGO, JS),
];

const LAYOUTS = [
  ...[COMPACT, SPACED, oneLine(',', ': '), oneLine(', ', ':')],
  ...[TWO, FOUR, TAB, lines(' '), lines('   '), lines('        ')],
  ...[lines('  ', ':'), lines('  ', ' : '), lines('    ', ' : '), lines('', ':')],
  ...[lines('  ', ': ', ', '), lines('    ', ': ', ', ')],
  ...[JACKSON, MONGO, oneLine(', ', ': ', ' '), oneLine(', ', ' : ')],
];

const ESCAPES: readonly Escapes[] = (Object.keys(SETS) as Escapes['set'][]).flatMap((set) =>
  (['raw', 'lower', 'upper'] as const).flatMap((beyondAscii) =>
    [false, true].flatMap((slash) =>
      [false, true].map((longControls) => ({ beyondAscii, set, slash, longControls })),
    ),
  ),
);

/** Returns all styles that write these texts differently, the common encoders first. */
export function stylesFor(texts: readonly string[]): readonly Style[] {
  const characters = [...new Set(texts.join(''))].join('');
  // Escapes with the same result share one object, so that each text is quoted only once.
  const alike = new Map<string, Escapes>();
  const shared = (escapes: Escapes): Escapes => {
    const quoted = quote(characters, escapes);
    const one = alike.get(quoted) ?? escapes;
    alike.set(quoted, one);
    return one;
  };
  const styles: Style[] = [];
  const known = new Map<Layout, Set<Escapes>>();
  const add = (name: string, layout: Layout, escapes: Escapes, cost: number): void => {
    const others = known.get(layout) ?? new Set();
    if (others.has(escapes)) return;
    known.set(layout, others.add(escapes));
    styles.push(toStyle(name, layout, escapes, cost));
  };
  for (const { name, layout, escapes } of ENCODERS)
    add(name, layout, shared(escapes), 1 + Math.log2(styles.length + 2));
  const all = new Set(ESCAPES.map(shared));
  for (const layout of LAYOUTS)
    for (const escapes of all) add('an uncommon encoder', layout, escapes, 8);
  return styles;
}

/** Finds the style that a text is written in. */
export function findStyle(
  root: Node,
  text: string,
  styles: readonly Style[],
  write: (root: Node, style: Style) => string,
): Style | undefined {
  const [[first] = []] = root.kind === 'object' ? root.members : [];
  return styles.find((style) => {
    const { indent, pad = '', colon } = style.layout;
    const begin = `{${indent === undefined ? pad : `\n${indent}`}`;
    // A text with another beginning needs no comparison.
    const isLikely =
      first === undefined || text.startsWith(begin + quote(first, style.escapes) + colon);
    return isLikely && write(root, style) === text;
  });
}

/** Returns all strings and names in a tree. */
export function textsOf(root: Node): readonly string[] {
  return valuesOf(root).flatMap(([node]) => {
    if (node.kind === 'string') return [node.text];
    return node.kind === 'object' ? node.members.map(([name]) => name) : [];
  });
}
