import { type Node, valuesOf } from './json-tree.js';

/** The white space around values. */
interface Layout {
  readonly comma: string;
  readonly colon: string;
  /** The indent of each level. Without it, all is on one line. */
  readonly indent?: string;
  /** Inside non-empty brackets, if all is on one line. */
  readonly pad?: string;
  /** Inside empty brackets. */
  readonly empty?: string;
  /** Whether arrays stay on one line. */
  readonly flatArrays?: boolean;
}

/** How strings are written. */
interface Escapes {
  readonly beyondAscii: 'raw' | 'lower' | 'upper';
  /** The characters that are written as `\u`, beside those that have to be. */
  readonly set: keyof typeof SETS;
  readonly slash: boolean;
  /** Whether `\b` and `\f` are written as `\u0008` and `\u000c`. */
  readonly longControls: boolean;
}

/** A way to write JSON. */
export interface Style {
  readonly name: string;
  /** About the logarithm of how many other styles are as common. */
  readonly cost: number;
  readonly layout: Layout;
  readonly escapes: Escapes;
}

/** The characters of each set, and whether their escapes have upper-case digits. */
const SETS = {
  none: { characters: /(?!)/g, upper: false },
  delete: { characters: /\u007f/g, upper: false },
  lines: { characters: /[\u2028\u2029]/g, upper: false },
  html: { characters: /[<>&\u2028\u2029]/g, upper: false },
  gson: { characters: /[<>&='\u2028\u2029]/g, upper: false },
  dotnet: { characters: /[<>&'"+`\u007f\u2028\u2029]/g, upper: true },
  phpHex: { characters: /[<>&'"]/g, upper: true },
  php: { characters: /[<>]/g, upper: true },
} as const;

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

/** Returns a function that writes trees, and quotes each text only once for styles with the same escapes. */
export function toWriter(): (root: Node, style: Style) => string {
  const quoted = new Map<Escapes, Map<string, string>>();
  return (root, { layout, escapes }) => {
    const known = quoted.get(escapes) ?? new Map<string, string>();
    quoted.set(escapes, known);
    return writeTree(root, layout, (text) => {
      const before = known.get(text);
      if (before !== undefined) return before;
      const written = quote(text, escapes);
      known.set(text, written);
      return written;
    });
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: The pattern excludes characters that need escapes.
const NEEDS_NONE = /^[^"\\/<>&='+`\u0000-\u001f\u007f-\uffff]*$/;

function quote(text: string, { slash, beyondAscii, set, longControls }: Escapes): string {
  if (NEEDS_NONE.test(text)) return `"${text}"`;
  const { characters, upper } = SETS[set];
  let quoted = JSON.stringify(text).slice(1, -1);
  // .NET and PHP can write a quote as \u0022.
  const long = set === 'dotnet' || set === 'phpHex';
  if (long) quoted = quoted.replace(/\\(["\\])/g, (all, one) => (one === '"' ? '"' : all));
  if (slash) quoted = quoted.replaceAll('/', '\\/');
  if (longControls) quoted = quoted.replace(/\\b/g, '\\u0008').replace(/\\f/g, '\\u000c');
  quoted = quoted.replace(characters, (one) => unicode(one, upper));
  if (beyondAscii !== 'raw')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: The pattern matches text outside ASCII.
    quoted = quoted.replace(/[^\u0000-\u007f]/g, (one) => unicode(one, beyondAscii === 'upper'));
  return `"${quoted}"`;
}

function unicode(unit: string, upper: boolean): string {
  const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${upper ? digits.toUpperCase() : digits}`;
}

/** Writes JSON in a layout. */
function writeTree(root: Node, layout: Layout, text: (text: string) => string): string {
  const { comma, colon, indent, pad = '', empty = '', flatArrays = false } = layout;
  const write = (node: Node, depth: number): string => {
    if (node.kind === 'string') return text(node.text);
    if (node.kind === 'number') return node.digits;
    if (node.kind === 'literal') return node.word;
    const isObject = node.kind === 'object';
    const [open, close] = isObject ? '{}' : '[]';
    const flat = flatArrays && !isObject;
    // An array on one line does not indent its items.
    const inner = flat ? depth : depth + 1;
    const inline = flat || indent === undefined;
    const after = inline ? (flat ? ' ' : pad) : `\n${indent.repeat(depth + 1)}`;
    const before = inline ? after : `\n${indent.repeat(depth)}`;
    const joint = inline ? (flat ? `${comma} ` : comma) : comma + after;
    let written = '';
    if (isObject)
      for (const [name, value] of node.members)
        written += (written === '' ? '' : joint) + text(name) + colon + write(value, inner);
    else
      for (const item of node.items) written += (written === '' ? '' : joint) + write(item, inner);
    return written === '' ? open + empty + close : open + after + written + before + close;
  };
  return write(root, 0);
}
