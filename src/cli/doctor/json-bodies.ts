import { type Candidate, type Step, step } from './cause.js';
import {
  COMPACT,
  ENCODERS,
  featuresOf,
  SPACED,
  type Style,
  stylesFor,
  textWriter,
  writeTree,
} from './json-styles.js';
import { type Node, readTree, valuesOf } from './json-tree.js';
import { earlierValues } from './json-values.js';

/** The same JSON, as other encoders write it, and with the values that a parser may have changed. */
export function* rewrittenBodies(text: string): Generator<Candidate<string>> {
  const root = readTree(text);
  if (root === undefined) return;
  const styles = [...stylesFor(featuresOf(textsOf(root)))];
  const isNow = styles.find(([, style]) => writeTree(root, style) === text);
  const write = toWriter();
  const asIsNow = isNow?.[0] ?? 'another encoder';
  const rewritten = (name: string) => step('reserialized', 'parser', rewrittenAs(name, asIsNow));
  for (const [name, style] of styles) {
    const value = write(root, style);
    if (value !== text) yield { value, steps: [rewritten(name)] };
  }
  // What was changed stays written as it is now, or was written by a common encoder.
  const common = styles.filter(
    ([name, { layout }]) =>
      name === isNow?.[0] ||
      ((layout === COMPACT || layout === SPACED) && ENCODERS.some(([known]) => known === name)),
  );
  const nowFirst = [...common].sort(([a], [b]) => rank(a, isNow) - rank(b, isNow)).slice(0, 8);
  for (const { value: node, steps } of earlierValues(root)) {
    for (const [name, style] of nowFirst) {
      const how: readonly Step[] = name === isNow?.[0] ? [] : [rewritten(name)];
      yield { value: write(node, style), steps: [...steps, ...how] };
    }
  }
}

function rank(name: string, isNow: readonly [string, Style] | undefined): number {
  return name === isNow?.[0] ? 0 : 1;
}

function rewrittenAs(sent: string, now: string): string {
  return `The body was parsed and written again: it was sent as ${sent} writes it, and is now as ${now} does.`;
}

/** Texts are written once for a style, whatever is around them. */
function toWriter(): (node: Node, style: Style) => string {
  const writers = new Map<string, (text: string) => string>();
  return (node, style) => {
    const key = JSON.stringify(style.escapes);
    const writer = writers.get(key) ?? textWriter(style.escapes);
    writers.set(key, writer);
    return writeTree(node, style, writer);
  };
}

function* textsOf(root: Node): Generator<string> {
  for (const [node] of valuesOf(root)) {
    if (node.kind === 'string') yield node.text;
    if (node.kind === 'object') for (const [name] of node.members) yield name;
  }
}
