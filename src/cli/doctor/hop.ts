import { Agenda } from './agenda.js';
import { addBodies, type Body } from './bodies.js';
import { type Step, step } from './cause.js';
import { type Diagnosis, diagnose } from './diagnose.js';
import { type Difference, findDifference } from './difference.js';
import type { Keys } from './keys.js';
import type { Received } from './messages.js';

/** Locates a change to a delivery, by two recordings of it along its way. */
export interface Hop {
  /** `between` the two recordings, `before` both, `both` of these, or `nowhere` if both are genuine. */
  readonly changed: 'between' | 'before' | 'nowhere' | 'both';
  /** The changes between the two recordings, if they are known. */
  readonly steps: readonly Step[];
  readonly difference: Difference | undefined;
  /** The result for the other recording. */
  readonly other: Diagnosis['result'];
}

/** The limit of the search, in steps of about a nanosecond. */
const MOST_WORK = 1e8;

/** Compares a delivery with an earlier recording of it, nearer to the provider. */
export function compareHops(here: Received, earlier: Received, keys: Keys): Hop {
  const other = diagnose(earlier, keys).result;
  const difference = findDifference(here.body, earlier.body);
  if (difference === undefined) {
    const isSame = here.signature.toLowerCase() === earlier.signature.toLowerCase();
    const header: readonly Step[] = isSame
      ? []
      : [step('changed', 'The body is the same, but the signature header is different.')];
    const [same, different] =
      other === 'genuine' ? (['nowhere', 'between'] as const) : (['before', 'both'] as const);
    const changed = isSame ? same : different;
    return { changed, steps: header, difference, other };
  }
  const steps = whatWasDone(here.body, earlier.body);
  return { changed: other === 'genuine' ? 'between' : 'both', steps, difference, other };
}

function whatWasDone(here: Uint8Array, earlier: Uint8Array): readonly Step[] {
  const agenda = new Agenda<Body>(MOST_WORK);
  addBodies(agenda, here, (body) => [body]);
  for (const { value, steps } of agenda.work())
    if (Buffer.compare(Buffer.from(value), earlier) === 0) return steps;
  const at = findDifference(here, earlier)?.at;
  if (at === here.length)
    return [step('cut_short', `it ends after ${at} of ${earlier.length} bytes`)];
  if (at === earlier.length) return [step('bytes_gained', 'bytes after')];
  return [step('changed', 'The body was changed in a way that doctor does not know.')];
}
