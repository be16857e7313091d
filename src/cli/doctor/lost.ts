import { MAX_COST } from './agenda.js';
import type { Candidate } from './cause.js';
import { one } from './undone.js';

/** Common characters of a few languages. */
const COMMON = [
  ...'éèêëáàâäãåçñóòôöõøúùûüíìîïßæœÉÈÀÁÂÄÃÅÇÑÓÖÕØÚÜÍ€£–—’‘“”„…•·®©™°ºª¿¡«»×½²',
  ...'łąęśżźćńčšžřěůýđğışİ№абвгдежзийклмнопрстуфхцчшщъыьэюяАБВГДЕЗИКЛМНОПРСТУФХЦЧШЭЮЯ',
];

/** Further characters, the likely ones first. The cost is about the logarithm of their number. */
const RANGES: readonly (readonly [cost: number, ...(readonly [from: number, to: number])[]])[] = [
  [11, [0x80, 0x7ff]],
  [12, [0x2000, 0x2bff], [0x1f000, 0x1faff]],
  [MAX_COST, [0x800, 0x1fff], [0x2c00, 0xd7ff], [0xe000, 0xffef]],
];

type Body = Candidate<Uint8Array>;

/**
 * Restores lost characters. A character whose bytes were decoded in two pieces has become U+FFFD; one that a charset
 * does not have has become a question mark.
 */
export function* lostCharacters(
  text: string,
): Generator<readonly [cost: number, make: () => Iterable<Body>]> {
  const isBroken = text.includes('\ufffd');
  const detail = isBroken
    ? 'its bytes arrived in two pieces, which were decoded separately, and became U+FFFD'
    : 'a program wrote it in a charset that does not have it, as a question mark';
  const spots = Array.from(text.matchAll(isBroken ? /\ufffd+/g : /\?+/g), ({ index, 0: lost }) => ({
    index,
    end: index + lost.length,
  })).slice(0, 5);
  if (spots.length === 0) return;
  type Spot = (typeof spots)[number];
  const put = (...chosen: readonly (readonly [Spot, string])[]) => {
    let made = '';
    let from = 0;
    for (const [{ index, end }, character] of chosen) {
      made += text.slice(from, index) + character;
      from = end;
    }
    return one(made + text.slice(from), 'characters_lost', detail);
  };
  function* each(characters: Iterable<string>): Generator<Body> {
    for (const character of characters) {
      for (const spot of spots) yield* put([spot, character]);
      if (spots.length > 1) yield* put(...spots.map((spot) => [spot, character] as const));
    }
  }
  yield [7 + Math.log2(spots.length), () => each(COMMON)];
  for (const [cost, ...ranges] of RANGES) yield [cost, () => each(charactersOf(ranges))];
  const [first, second, ...others] = spots;
  if (first === undefined || second === undefined || others.length > 0) return;
  const pairs = COMMON.flatMap((a) => COMMON.map((b) => [a, b] as const));
  yield [12, () => pairs.flatMap(([a, b]) => put([first, a], [second, b]))];
}

function* charactersOf(ranges: readonly (readonly [number, number])[]): Generator<string> {
  for (const [from, to] of ranges)
    for (let code = from; code <= to; code += 1) yield String.fromCodePoint(code);
}
