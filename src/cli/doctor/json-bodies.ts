import { type Agenda, MAX_COST } from './agenda.js';
import { type Candidate, type Step, step } from './cause.js';
import { changesOfMembers } from './json-members.js';
import { findStyle, type Style, stylesFor, textsOf } from './json-styles.js';
import { type Node, readTree } from './json-tree.js';
import { type Change, changesOfValues } from './json-values.js';
import { toWriter } from './json-writer.js';

/** JSON that may have been sent. */
export interface Rewritten extends Candidate<string> {
  readonly cost: number;
}

/** The name of this family in the answer. */
export const ENCODERS = 'the JSON as other encoders write it';

/** A JSON value and the style that it is written in. */
interface Draft {
  readonly tree: Node;
  /** `undefined` if no known style writes the received text. */
  readonly style: Style | undefined;
  readonly end: (text: string) => string;
  /** The changes that were undone, in this order. */
  readonly moves: readonly Move[];
}

/** A change of the values, of the style, or of the text around the JSON. */
type Move = Omit<Change, 'undo'> & {
  /** `undefined` if there is nothing to undo. */
  undo(draft: Draft): Omit<Draft, 'moves'> | undefined;
};

/** Adds the JSON as other encoders write it, and with the values that it may have had. */
export function addRewritings<Made>(
  agenda: Agenda<Made>,
  text: string,
  base: number,
  make: (body: Rewritten) => Iterable<Made>,
): void {
  const root = readTree(text);
  if (root === undefined) return;
  agenda.spend(WORK.reading, text.length);
  const styles = stylesFor(textsOf(root));
  const write = toWriter();
  const now = findStyle(root, text, styles, write);
  const kinds = kindsOf([
    ...[...changesOfMembers(root), ...changesOfValues(root)].map(toMove),
    ...styles.filter((style) => style !== now).map((style) => toStyle(style, now)),
    ...ENDS,
  ]);
  const sums = sumsOf(kinds);

  /** Undoes moves of the kinds from `from` on that cost exactly `cost` together. */
  function* several(draft: Draft, from: number, cost: number): Generator<Draft> {
    for (let index = from; index < kinds.length; index += 1)
      for (const [own, some] of kinds[index] ?? []) {
        const left = cost - own;
        if (!sums[index + 1]?.has(left) || (left === 0 && draft === start)) continue;
        for (const move of some) {
          if (agenda.isSpent) return;
          agenda.spend(WORK.change, text.length);
          const before = after(move, draft);
          if (before === undefined) continue;
          if (left === 0) yield before;
          else yield* several(before, index + 1, left);
        }
      }
  }

  function* undone(some: readonly Move[]): Generator<Draft | undefined> {
    for (const move of some) {
      agenda.spend(WORK.change, text.length);
      yield after(move, start);
    }
  }

  function* written(cost: number, drafts: Iterable<Draft | undefined>): Generator<Made> {
    for (const draft of drafts) {
      if (draft === undefined || (draft.style === undefined && draft.tree !== root)) continue;
      agenda.spend(WORK.writing, text.length);
      const { tree, style, end, moves } = draft;
      const value = end(style === undefined ? text : write(tree, style));
      // A getter, because only the steps of the match are described.
      yield* make({
        value,
        cost,
        get steps() {
          return stepsOf(moves);
        },
      });
    }
  }

  const start: Draft = { tree: root, style: now, end: (as) => as, moves: [] };
  for (const kind of kinds)
    for (const [own, some] of kind) {
      const cost = base + own;
      agenda.add(cost, some[0]?.family ?? '', () => written(cost, undone(some)));
    }
  for (const sum of sums[0] ?? []) {
    const cost = base + sum;
    if (sum > 0)
      agenda.add(cost, 'several changes of the JSON at once', () =>
        written(cost, several(start, 0, sum)),
      );
  }
}

const WORK = {
  reading: { each: 300_000, byte: 1200 },
  change: { each: 1000, byte: 7 },
  writing: { each: 1500, byte: 10 },
};

/** The moves of one rank, by cost. Only one of them is undone. */
type Kind = ReadonlyMap<number, readonly Move[]>;

/** Groups moves into kinds, in the order of ranks. */
function kindsOf(moves: readonly Move[]): readonly Kind[] {
  const kinds = new Map<number, Map<number, Move[]>>();
  for (const move of moves) {
    const cost = Math.ceil(move.cost);
    const kind = kinds.get(move.rank) ?? new Map<number, Move[]>();
    const known = kind.get(cost) ?? [];
    known.push(move);
    kinds.set(move.rank, kind.set(cost, known));
  }
  return [...kinds].sort(([a], [b]) => a - b).map(([, kind]) => kind);
}

/** Returns, for each kind, the possible total costs of this kind and all later ones. */
function sumsOf(kinds: readonly Kind[]): readonly ReadonlySet<number>[] {
  let after = new Set([0]);
  const sums = [after];
  for (const kind of [...kinds].reverse()) {
    const all = [0, ...kind.keys()].flatMap((cost) => Array.from(after, (sum) => sum + cost));
    after = new Set(all.filter((sum) => sum <= MAX_COST));
    sums.unshift(after);
  }
  return sums;
}

function after(move: Move, draft: Draft): Draft | undefined {
  const before = move.undo(draft);
  return before === undefined ? undefined : { ...before, moves: [...draft.moves, move] };
}

/** The rank of styles. Steps list changes of values first, the last one undone first, and then the style. */
const WRITTEN = 98;

function stepsOf(moves: readonly Move[]): readonly Step[] {
  const ofValues = moves.filter(({ rank }) => rank < WRITTEN);
  const others = moves.filter(({ rank }) => rank >= WRITTEN);
  return [...ofValues.reverse(), ...others].map((move) => move.describe());
}

function toMove({ rank, cost, family, describe, undo }: Change): Move {
  return {
    rank,
    cost,
    family,
    describe,
    undo(draft) {
      const tree = undo(draft.tree);
      return tree === draft.tree ? undefined : { ...draft, tree };
    },
  };
}

function toStyle(style: Style, now: Style | undefined): Move {
  const how = `${style.name} writes it, and is now as ${now?.name ?? 'another encoder'} writes it`;
  return {
    rank: WRITTEN,
    cost: style.cost,
    family: ENCODERS,
    describe: () => step('reserialized', how),
    undo: (draft) => ({ ...draft, style }),
  };
}

const toCrlf = (text: string) => text.replace(/(?<!\r)\n/g, '\r\n');

/** Endings and marks around the JSON that are lost together with its white space. */
const ENDS: readonly Move[] = [
  toEnd(3, step('line_end_lost', 'a line end'), (text) => `${text}\n`),
  toEnd(5, step('line_end_lost', 'the line end \\r\\n'), (text) => `${text}\r\n`),
  toEnd(5, step('bom_lost'), (text) => `\ufeff${text}`),
  toEnd(4, step('line_ends_converted', '\\r\\n'), toCrlf),
  toEnd(5, step('line_ends_converted', '\\r\\n'), (text) => `${toCrlf(text)}\r\n`),
];

function toEnd(cost: number, last: Step, end: (text: string) => string): Move {
  return {
    rank: WRITTEN + 1,
    cost,
    family: 'line ends after other JSON',
    describe: () => last,
    undo: (draft) => ({ ...draft, end }),
  };
}
