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
import { earlierValues, valuesChangedTwice } from './json-values.js';

/** The same JSON, as other encoders write it, and with the values that a parser may have changed. */
export function* rewrittenBodies(text: string): Generator<Candidate<string>> {
  const writing = writingOf(text);
  if (writing === undefined) return;
  const { root, styles, rewrite } = writing;
  for (const style of styles)
    for (const body of rewrite({ value: root, steps: [] }, [style]))
      if (body.value !== text) yield body;
  for (const earlier of earlierValues(root)) yield* rewrite(earlier, writing.common);
}

/** The same where more was changed at once: two of the values, or one and more than its white space. */
export function* bodiesRewrittenTwice(text: string): Generator<Candidate<string>> {
  const writing = writingOf(text);
  if (writing === undefined) return;
  const { root, rewrite } = writing;
  for (const earlier of valuesChangedTwice(root)) yield* rewrite(earlier, writing.common);
  for (const earlier of earlierValues(root)) yield* rewrite(earlier, writing.others);
}

type Named = readonly [name: string, Style];

function writingOf(text: string) {
  const root = readTree(text);
  if (root === undefined) return undefined;
  const styles = [...stylesFor(featuresOf(textsOf(root)))];
  const write = toWriter();
  const now = styles.find(([, style]) => write(root, style) === text)?.[0];
  // What was changed stays written as it is now, or was written by a common encoder.
  const known = styles.filter((style) => ENCODERS.includes(style) && style[0] !== now);
  const inOneLine = ([, { layout }]: Named) => layout === COMPACT || layout === SPACED;
  const common = [...styles.filter(([name]) => name === now), ...known.filter(inOneLine)].slice(
    0,
    8,
  );
  function* rewrite(
    { value, steps }: Candidate<Node>,
    as: readonly Named[],
  ): Generator<Candidate<string>> {
    for (const [name, style] of as) {
      const how: readonly Step[] = name === now ? [] : [rewrittenAs(name, now)];
      yield { value: write(value, style), steps: [...steps, ...how] };
    }
  }
  return {
    root,
    styles,
    common,
    others: known.filter((style) => !common.includes(style)),
    rewrite,
  };
}

function rewrittenAs(sent: string, now = 'another encoder'): Step {
  return step(
    'reserialized',
    'parser',
    `The body was parsed and written again: it was sent as ${sent} writes it, and is now as ${now} does.`,
  );
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
