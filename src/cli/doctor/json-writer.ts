import type { Node } from './json-tree.js';

/** The white space around values. */
export interface Layout {
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
export interface Escapes {
  readonly beyondAscii: 'raw' | 'lower' | 'upper';
  /** The characters that are written as `\u`, beside those that have to be. */
  readonly set: keyof typeof SETS;
  readonly slash: boolean;
  /** Whether `\b` and `\f` are written as `\u0008` and `\u000c`. */
  readonly longControls: boolean;
}

/** The characters of each set, and whether their escapes have upper-case digits. */
export const SETS = {
  none: { characters: /(?!)/g, upper: false },
  delete: { characters: /\u007f/g, upper: false },
  lines: { characters: /[\u2028\u2029]/g, upper: false },
  html: { characters: /[<>&\u2028\u2029]/g, upper: false },
  gson: { characters: /[<>&='\u2028\u2029]/g, upper: false },
  dotnet: { characters: /[<>&'"+`\u007f\u2028\u2029]/g, upper: true },
  phpHex: { characters: /[<>&'"]/g, upper: true },
  php: { characters: /[<>]/g, upper: true },
} as const;

/** How JSON is written. */
export interface Written {
  readonly layout: Layout;
  readonly escapes: Escapes;
}

/** Returns a function that writes trees, and quotes each text only once for styles with the same escapes. */
export function toWriter(): (root: Node, style: Written) => string {
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

/** Writes a text in quotes. */
export function quote(text: string, { slash, beyondAscii, set, longControls }: Escapes): string {
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

/** The white space inside of brackets. */
interface Gaps {
  readonly first: string;
  readonly between: string;
  readonly last: string;
}

/** Writes JSON in a layout. */
function writeTree(root: Node, layout: Layout, text: (text: string) => string): string {
  const { comma, colon, indent, pad = '', empty = '', flatArrays = false } = layout;
  const inLine: Gaps = { first: pad, between: comma, last: pad };
  const flat: Gaps = { first: ' ', between: `${comma} `, last: ' ' };
  const known: Gaps[] = [];
  const gapsAt = (depth: number): Gaps => {
    if (indent === undefined) return inLine;
    const first = `\n${indent.repeat(depth + 1)}`;
    known[depth] ??= { first, between: comma + first, last: `\n${indent.repeat(depth)}` };
    return known[depth];
  };
  // One text that grows is faster than a text for each value.
  let written = '';
  const write = (node: Node, depth: number): void => {
    if (node.kind === 'string') written += text(node.text);
    else if (node.kind === 'number') written += node.digits;
    else if (node.kind === 'literal') written += node.word;
    else if (node.kind === 'object') {
      const gaps = gapsAt(depth);
      let gap = `{${gaps.first}`;
      for (const [name, value] of node.members) {
        written += gap + text(name) + colon;
        write(value, depth + 1);
        gap = gaps.between;
      }
      written += node.members.length === 0 ? `{${empty}}` : `${gaps.last}}`;
    } else {
      const gaps = flatArrays ? flat : gapsAt(depth);
      let gap = `[${gaps.first}`;
      for (const item of node.items) {
        written += gap;
        // An array on one line does not indent its items.
        write(item, flatArrays ? depth : depth + 1);
        gap = gaps.between;
      }
      written += node.items.length === 0 ? `[${empty}]` : `${gaps.last}]`;
    }
  };
  write(root, 0);
  return written;
}
