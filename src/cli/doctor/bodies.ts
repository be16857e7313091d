import type { Agenda } from './agenda.js';
import type { Candidate } from './cause.js';
import { readUtf8 } from './charsets.js';
import { compressed } from './compression.js';
import { addRewritings, ENCODERS } from './json-bodies.js';
import { lostCharacters } from './lost.js';
import { earlierBodies, guessedBodies } from './transport.js';

/** A body that may have been sent. Its cost is about the logarithm of how many others are as likely. */
export interface Body extends Candidate<string | Uint8Array> {
  readonly cost: number;
}

/** How many bodies to look into further after a change was undone. */
const MOST_SEEDS = 24;

/** The cost of trying all encodings of a body. */
const WORK = { each: 100_000, byte: 250 };

type Bytes = Uint8Array;

const ON_ITS_WAY = 'encodings, envelopes and line ends';

/**
 * Adds every body that may have been sent if this one arrived: undoes changes on its way, several if needed, and then
 * the changes that encoders make to JSON.
 */
export function addBodies<Made>(
  agenda: Agenda<Made>,
  seen: Bytes,
  make: (body: Body) => Iterable<Made>,
): void {
  const known = new Set<string>();
  let seeds = 0;
  lookInto({ value: seen, steps: [], cost: 0 });

  function lookInto({ value, steps, cost }: Body & { readonly value: Bytes }): void {
    const key = Buffer.from(value).toString('latin1');
    if (known.has(key) || seeds > MOST_SEEDS) return;
    known.add(key);
    seeds += 1;
    const after = <Text>(earlier: Candidate<Text>) => [...earlier.steps, ...steps];
    const add = (more: number, family: string, bodies: () => Iterable<Candidate<Bytes>>) =>
      agenda.add(cost + more, family, function* () {
        agenda.spend(WORK, value.length);
        for (const earlier of bodies())
          yield* make({ ...earlier, steps: after(earlier), cost: cost + more });
      });
    agenda.add(cost, ON_ITS_WAY, () => {
      agenda.spend(WORK, value.length);
      for (const earlier of earlierBodies(value)) {
        const body = { ...earlier, steps: after(earlier), cost: cost + 1 };
        agenda.add(body.cost, ON_ITS_WAY, function* () {
          yield* make(body);
          lookInto(body);
        });
      }
      return [];
    });
    if (steps.length < 2) {
      add(2, ON_ITS_WAY, () => guessedBodies(value));
      add(6, 'compressed bodies', () => compressed(value));
    }
    const text = readUtf8(value);
    if (text === undefined) return;
    agenda.add(cost + 1, ENCODERS, () => {
      addRewritings(agenda, text.replace(/^\ufeff/, ''), cost, (earlier) =>
        make({
          value: earlier.value,
          cost: earlier.cost,
          // No spread, which would describe the steps of every body.
          get steps() {
            return after(earlier);
          },
        }),
      );
      return [];
    });
    for (const [more, bodies] of lostCharacters(text))
      add(more, 'characters that were lost', bodies);
  }
}
