import { type Candidate, type Step, step } from './cause.js';
import { LATIN_1, readUtf8, toBytes } from './charsets.js';
import { earlierEndings } from './endings.js';
import { bodiesRewrittenTwice, rewrittenBodies } from './json-bodies.js';
import { earlierBodies } from './transport.js';

type Body = Candidate<Uint8Array>;

/** The most bodies that are looked into further after something was undone. */
const MAX_SEEDS = 24;

/**
 * Every body that may have been sent where this one has come: the likely ones first. Undone are up to two things on
 * its way, then an encoder, then a line end.
 */
export function* sentBodies(seen: Uint8Array): Generator<Body> {
  const start: Body = { value: seen, steps: [] };
  yield* endings(start);
  const seeds: Body[] = [];
  for (const earlier of earlierBodies(seen)) {
    const once = after(start, earlier);
    yield once;
    // What could only be made up, and not found in the body, leads no further.
    if (leadsOn(earlier.steps) && seeds.length < MAX_SEEDS) seeds.push(once);
  }
  yield* rewritten(start);
  for (const seed of seeds) {
    yield* endings(seed);
    for (const earlier of earlierBodies(seed.value)) {
      const twice = after(seed, earlier);
      yield twice;
      if (leadsOn(earlier.steps)) yield* endings(twice);
    }
    yield* rewritten(seed);
  }
  const trimmed = LATIN_1.encode(LATIN_1.decode(seen).trim());
  if (trimmed === undefined || trimmed.length === seen.length) return;
  for (const earlier of earlierBodies(trimmed)) yield after(start, earlier);
}

/** The unlikely ones: of JSON of which two things were changed at once. */
export function* unlikelyBodies(seen: Uint8Array): Generator<Body> {
  const text = readUtf8(seen);
  if (text === undefined) return;
  for (const { value, steps } of bodiesRewrittenTwice(text.replace(/^\ufeff/, '')))
    yield { value: toBytes(value), steps };
}

/** Whether what was undone is known from the body, and was not one of many ways to make it. */
function leadsOn(steps: Body['steps']): boolean {
  return steps.every(({ code }) => !MADE_UP.has(code));
}

const MADE_UP = new Set(['bom_lost', 'decompressed', 'decoded', 'form_decoded']);

function after({ steps }: Body, { value, steps: earlier }: Body): Body {
  return { value, steps: [...earlier, ...steps] };
}

function* endings(from: Body): Generator<Body> {
  const text = LATIN_1.decode(from.value);
  for (const { value, steps } of earlierEndings(text))
    yield after(from, { value: Buffer.from(value, 'latin1'), steps });
}

/** How many of the bodies that encoders write are tried with other line ends as well. */
const WITH_ENDINGS = 60;

function* rewritten(from: Body): Generator<Body> {
  const text = readUtf8(from.value);
  if (text === undefined) return;
  const likely: Candidate<string>[] = [];
  for (const { value, steps } of rewrittenBodies(text.replace(/^\ufeff/, ''))) {
    if (likely.length < WITH_ENDINGS) likely.push({ value, steps });
    yield after(from, { value: toBytes(value), steps });
  }
  for (const { value, steps } of likely) {
    const sent = after(from, { value: toBytes(value), steps });
    yield* [
      ended(sent, `${value}\n`, LINE_END),
      ended(sent, `${value}\r\n`, LINE_END),
      ended(sent, `\ufeff${value}`, BOM),
    ];
    if (!value.includes('\n')) continue;
    const lines = value.replaceAll('\n', '\r\n');
    yield* [ended(sent, lines, CRLF), ended(sent, `${lines}\r\n`, CRLF)];
  }
}

const LINE_END = step('line_end_lost', 'parser', 'The line end after it was lost.');
const CRLF = step('line_ends_converted', 'parser', 'Its lines ended with \\r\\n.');
const BOM = step('bom_lost', 'parser', 'The byte order mark before it was lost.');

function ended({ steps }: Body, text: string, end: Step): Body {
  return { value: toBytes(text), steps: [...steps, end] };
}
