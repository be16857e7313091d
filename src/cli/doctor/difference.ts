/** The first difference between two bodies. */
export interface Difference {
  /** Counted from 0. */
  readonly at: number;
  readonly seen: Excerpt;
  readonly sent: Excerpt;
}

/** The bytes around a difference, beginning at `from`. */
export interface Excerpt {
  readonly bytes: number;
  readonly from: number;
  readonly hex: string;
  readonly text: string;
}

const BEFORE = 8;
const SHOWN = 24;

/** Finds the first difference of two bodies; `undefined` if they are equal. */
export function findDifference(seen: Uint8Array, sent: Uint8Array): Difference | undefined {
  const shorter = Math.min(seen.length, sent.length);
  let at = 0;
  while (at < shorter && seen[at] === sent[at]) at += 1;
  if (at === seen.length && at === sent.length) return undefined;
  return { at, seen: excerpt(seen, at), sent: excerpt(sent, at) };
}

function excerpt(body: Uint8Array, at: number): Excerpt {
  const from = Math.max(0, at - BEFORE);
  const shown = Buffer.from(body.subarray(from, from + SHOWN));
  return {
    bytes: body.length,
    from,
    hex: Array.from(shown, (byte) => byte.toString(16).padStart(2, '0')).join(' '),
    // One character for each byte, so that both lines align.
    text: shown.toString('latin1').replace(/[^ -~]/g, '·'),
  };
}
