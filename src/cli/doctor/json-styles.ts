import type { Node } from './json-tree.js';

/** White space: what stands around the values. */
export interface Layout {
  readonly comma: string;
  readonly colon: string;
  /** Of each level; without it, all is one line. */
  readonly indent?: string;
  /** Within the brackets of what is not empty, where all is one line. */
  readonly pad?: string;
  /** Between the brackets of what is empty. */
  readonly empty?: string;
  /** Whether arrays stay in one line. */
  readonly flatArrays?: boolean;
}

/** How text is written. */
export interface Escapes {
  readonly slash: boolean;
  readonly beyondAscii: 'raw' | 'lower' | 'upper';
  /** What is written as `\u`, beside what has to be. */
  readonly set: EscapeSet;
  /** Whether `\b` and `\f` are written as `\u0008` and `\u000c`. */
  readonly longControls?: boolean;
}

export type EscapeSet = keyof typeof SETS;

/** How JSON is written. */
export interface Style {
  readonly layout: Layout;
  readonly escapes: Escapes;
}

/** The characters of each set, and the case of the digits that they are written with. */
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

export const COMPACT: Layout = { comma: ',', colon: ':' };
export const SPACED: Layout = { comma: ', ', colon: ': ' };

const JS: Escapes = { slash: false, beyondAscii: 'raw', set: 'none' };
const PYTHON: Escapes = { slash: false, beyondAscii: 'lower', set: 'delete' };
const PHP: Escapes = { slash: true, beyondAscii: 'lower', set: 'none' };
const PHP_UNICODE: Escapes = { slash: true, beyondAscii: 'raw', set: 'lines' };
const PHP_PLAIN: Escapes = { slash: false, beyondAscii: 'raw', set: 'lines' };
const DOTNET: Escapes = { slash: false, beyondAscii: 'upper', set: 'dotnet' };

const indented = (indent: string): Layout => ({ comma: ',', colon: ': ', indent });
const JACKSON: Layout = { comma: ',', colon: ' : ', indent: '  ', empty: ' ', flatArrays: true };
const MONGO: Layout = { comma: ', ', colon: ' : ', pad: ' ' };

/** The common encoders, each before those that write the same less often. */
export const ENCODERS: readonly (readonly [name: string, Style])[] = [
  ['JSON.stringify', { layout: COMPACT, escapes: JS }],
  ["Python's json.dumps", { layout: SPACED, escapes: PYTHON }],
  ["PHP's json_encode", { layout: COMPACT, escapes: PHP }],
  ["Python's json.dumps(ensure_ascii=False)", { layout: SPACED, escapes: JS }],
  ["Python's json.dumps(separators=(',', ':'))", { layout: COMPACT, escapes: PYTHON }],
  ["PHP's json_encode(JSON_UNESCAPED_UNICODE)", { layout: COMPACT, escapes: PHP_UNICODE }],
  [
    "PHP's json_encode(JSON_UNESCAPED_SLASHES)",
    { layout: COMPACT, escapes: { ...PHP, slash: false } },
  ],
  [
    "PHP's json_encode(JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES)",
    { layout: COMPACT, escapes: PHP_PLAIN },
  ],
  ["Swift's JSONEncoder", { layout: COMPACT, escapes: { ...JS, slash: true } }],
  ["Go's json.Marshal", { layout: COMPACT, escapes: { ...JS, set: 'html' } }],
  [
    "Ruby's JSON.generate(script_safe: true)",
    { layout: COMPACT, escapes: { ...JS, slash: true, set: 'lines' } },
  ],
  ["Java's Gson", { layout: COMPACT, escapes: { ...JS, set: 'gson' } }],
  [".NET's System.Text.Json", { layout: COMPACT, escapes: DOTNET }],
  [
    "PHP's json_encode(JSON_HEX_TAG | JSON_HEX_AMP | JSON_HEX_APOS | JSON_HEX_QUOT)",
    { layout: COMPACT, escapes: { ...PHP, set: 'phpHex' } },
  ],
  ['jq -c', { layout: COMPACT, escapes: { ...JS, set: 'delete' } }],
  ['JSON.stringify(…, null, 2)', { layout: indented('  '), escapes: JS }],
  ["Python's json.dumps(indent=2)", { layout: indented('  '), escapes: PYTHON }],
  ['JSON.stringify(…, null, 4)', { layout: indented('    '), escapes: JS }],
  ["PHP's json_encode(JSON_PRETTY_PRINT)", { layout: indented('    '), escapes: PHP }],
  ["Python's json.dumps(indent=4)", { layout: indented('    '), escapes: PYTHON }],
  ["JSON.stringify(…, null, '\\t')", { layout: indented('\t'), escapes: JS }],
  [".NET's System.Text.Json, indented", { layout: indented('  '), escapes: DOTNET }],
  ["Go's json.MarshalIndent", { layout: indented('  '), escapes: { ...JS, set: 'html' } }],
  ["Java's Jackson, indented", { layout: JACKSON, escapes: JS }],
  ["Perl's JSON::PP, pretty", { layout: { comma: ',', colon: ' : ', indent: '   ' }, escapes: JS }],
  ["MongoDB's tojson", { layout: MONGO, escapes: JS }],
];

/** What of a style shows in a text: the rest is left as it is. */
export interface Features {
  readonly slash: boolean;
  readonly beyondAscii: boolean;
  readonly sets: readonly EscapeSet[];
  readonly controls: boolean;
}

export function featuresOf(texts: Iterable<string>): Features {
  const all = [...texts].join('\u0001');
  const has = (pattern: RegExp) => all.search(pattern) >= 0;
  return {
    slash: all.includes('/'),
    beyondAscii: has(/[^\0-\u007f]/),
    sets: (Object.keys(SETS) as EscapeSet[]).filter(
      (name) => name === 'none' || has(new RegExp(SETS[name].characters.source)),
    ),
    controls: has(/[\b\f]/),
  };
}

const LAYOUTS: readonly Layout[] = [
  COMPACT,
  SPACED,
  { comma: ',', colon: ': ' },
  { comma: ', ', colon: ':' },
  indented('  '),
  indented('    '),
  indented('\t'),
  indented(' '),
  indented('   '),
  indented('        '),
  { comma: ',', colon: ':', indent: '  ' },
  { comma: ',', colon: ' : ', indent: '  ' },
  { comma: ',', colon: ' : ', indent: '    ' },
  { comma: ', ', colon: ': ', indent: '  ' },
  { comma: ', ', colon: ': ', indent: '    ' },
  JACKSON,
  MONGO,
  { comma: ', ', colon: ': ', pad: ' ' },
  { comma: ',', colon: ':', indent: '' },
  { comma: ', ', colon: ' : ' },
];

/** Every way to write texts of these features, the common encoders first; none that shows twice. */
export function* stylesFor(features: Features): Generator<readonly [name: string, Style]> {
  const seen = new Set<string>();
  const isNew = (style: Style) => {
    const key = JSON.stringify([style.layout, asShown(style.escapes, features)]);
    return seen.size !== seen.add(key).size;
  };
  for (const encoder of ENCODERS) if (isNew(encoder[1])) yield encoder;
  for (const layout of LAYOUTS) {
    for (const escapes of escapesFor(features)) {
      if (isNew({ layout, escapes })) yield [describe({ layout, escapes }), { layout, escapes }];
    }
  }
}

function asShown(escapes: Escapes, { slash, beyondAscii, sets, controls }: Features): unknown[] {
  return [
    slash && escapes.slash,
    beyondAscii && escapes.beyondAscii,
    sets.includes(escapes.set) && escapes.set,
    controls && (escapes.longControls ?? false),
  ];
}

function* escapesFor({ slash, beyondAscii, sets, controls }: Features): Generator<Escapes> {
  for (const set of sets)
    for (const beyond of beyondAscii ? (['raw', 'lower', 'upper'] as const) : (['raw'] as const))
      for (const escaped of slash ? [false, true] : [false])
        for (const longControls of controls ? [false, true] : [false])
          yield { slash: escaped, beyondAscii: beyond, set, longControls };
}

/** A style that no common encoder has. */
function describe({ layout, escapes }: Style): string {
  const { comma, colon, indent } = layout;
  const parts = [
    indent === undefined
      ? `one line with ${JSON.stringify(comma)} and ${JSON.stringify(colon)}`
      : `lines indented by ${JSON.stringify(indent)} with ${JSON.stringify(colon)}`,
    ...(escapes.slash ? ['\\/ for /'] : []),
    ...(escapes.beyondAscii === 'raw' ? [] : ['\\u for what is not ASCII']),
    ...(escapes.set === 'none' ? [] : ['more characters as \\u']),
  ];
  return `an encoder that writes ${parts.join(', ')}`;
}

/** Writes text as JSON, each one once for a style. */
export function textWriter(escapes: Escapes): (text: string) => string {
  const written = new Map<string, string>();
  return (text) => {
    const known = written.get(text);
    if (known !== undefined) return known;
    const quoted = quote(text, escapes);
    written.set(text, quoted);
    return quoted;
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: What most texts have none of.
const PLAIN = /^[^"\\/<>&='+`\u0000-\u001f\u007f-\uffff]*$/;

function quote(text: string, { slash, beyondAscii, set, longControls }: Escapes): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const { characters, upper } = SETS[set];
  let quoted = JSON.stringify(text).slice(1, -1);
  // .NET and PHP can write a quote as \u0022.
  const long = set === 'dotnet' || set === 'phpHex';
  if (long) quoted = quoted.replace(/\\(["\\])/g, (all, one) => (one === '"' ? '"' : all));
  if (slash) quoted = quoted.replaceAll('/', '\\/');
  if (longControls) quoted = quoted.replace(/\\b/g, '\\u0008').replace(/\\f/g, '\\u000c');
  quoted = quoted.replace(characters, (one) => unicode(one, upper));
  if (beyondAscii !== 'raw')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: What is not ASCII.
    quoted = quoted.replace(/[^\u0000-\u007f]/g, (one) => unicode(one, beyondAscii === 'upper'));
  return `"${quoted}"`;
}

function unicode(unit: string, upper: boolean): string {
  const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${upper ? digits.toUpperCase() : digits}`;
}

/** Writes JSON in a style. */
export function writeTree(root: Node, { layout, escapes }: Style, text = textWriter(escapes)) {
  const { comma, colon, indent, pad = '', empty = '', flatArrays = false } = layout;
  let written = '';
  const list = (
    [open, close]: readonly [string, string],
    count: number,
    depth: number,
    flat: boolean,
    writeOne: (index: number, depth: number) => void,
  ) => {
    if (count === 0) {
      written += open + empty + close;
      return;
    }
    const inline = flat || indent === undefined;
    const line = (level: number) => (inline ? '' : `\n${(indent ?? '').repeat(level)}`);
    const padding = flat ? ' ' : pad;
    written += open + (inline ? padding : line(depth + 1));
    for (let index = 0; index < count; index += 1) {
      if (index > 0) written += flat ? `${comma} ` : comma + line(depth + 1);
      writeOne(index, depth + 1);
    }
    written += (inline ? padding : line(depth)) + close;
  };
  const write = (node: Node, depth: number): void => {
    if (node.kind === 'object') {
      list(['{', '}'], node.members.length, depth, false, (index, level) => {
        const [name, value] = node.members[index] as (typeof node.members)[number];
        written += text(name) + colon;
        write(value, level);
      });
    } else if (node.kind === 'array') {
      list(['[', ']'], node.items.length, depth, flatArrays, (index, level) => {
        // Where an array stays in a line, what is in it is no deeper for it.
        write(node.items[index] as Node, flatArrays ? level - 1 : level);
      });
    } else if (node.kind === 'string') written += text(node.text);
    else written += node.kind === 'number' ? node.digits : node.word;
  };
  write(root, 0);
  return written;
}
