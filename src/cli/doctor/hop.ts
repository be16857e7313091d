import { sentBodies } from './bodies.js';
import { type Step, step } from './cause.js';
import { type Diagnosis, diagnose, type Received } from './diagnose.js';
import { type Difference, findDifference } from './difference.js';
import type { Keys } from './keys.js';

/** Where on its way a delivery was changed, by two recordings of it. */
export interface Hop {
  /** `between` the two, `before` both of them, or `nowhere` where both are genuine. */
  readonly changed: 'between' | 'before' | 'nowhere' | 'both';
  /** What was done between the two, where it is known. */
  readonly steps: readonly Step[];
  readonly difference: Difference | undefined;
  /** Of the other recording. */
  readonly other: Diagnosis['result'];
}

/** The most bodies that are compared with what was sent. */
const MOST = 3000;

/** Compares a delivery with an earlier recording of it, nearer to the provider. */
export function compareHops(here: Received, earlier: Received, keys: Keys): Hop {
  const other = diagnose(earlier, keys).result;
  const difference = findDifference(here.body, earlier.body);
  if (difference === undefined) {
    const isGenuine = other === 'genuine' && here.signature === earlier.signature;
    const header: readonly Step[] =
      here.signature === earlier.signature
        ? []
        : [step('changed', 'transport', 'The body is the same, and the signature header is not.')];
    const changed = isGenuine ? 'nowhere' : header.length > 0 ? 'between' : 'before';
    return { changed, steps: header, difference, other };
  }
  const steps = whatWasDone(here.body, earlier.body);
  return { changed: other === 'genuine' ? 'between' : 'both', steps, difference, other };
}

function whatWasDone(here: Uint8Array, earlier: Uint8Array): readonly Step[] {
  let left = MOST;
  for (const { value, steps } of sentBodies(here)) {
    if (Buffer.compare(value, earlier) === 0) return steps;
    left -= 1;
    if (left === 0) break;
  }
  const at = findDifference(here, earlier)?.at;
  if (at === here.length)
    return [
      step(
        'cut_short',
        'transport',
        `The body was cut short, after ${at} of ${earlier.length} bytes.`,
      ),
    ];
  if (at === earlier.length)
    return [
      step(
        'bytes_gained',
        'transport',
        `${here.length - earlier.length} bytes were put after the body.`,
      ),
    ];
  return [
    step(
      'changed',
      'transport',
      'The body was changed in a way that none of the transformations makes.',
    ),
  ];
}
