import { type Candidate, type CauseCode, step } from './cause.js';
import { toBytes } from './charsets.js';

/** Returns the candidate for a body before a change; empty if `value` is `undefined`. */
export function one(
  value: Uint8Array | string | undefined,
  code: CauseCode,
  detail?: string,
): readonly Candidate<Uint8Array>[] {
  if (value === undefined) return [];
  return [
    { value: typeof value === 'string' ? toBytes(value) : value, steps: [step(code, detail)] },
  ];
}

/** Returns `undefined` if `make` throws, because the input may be any bytes. */
export function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Returns a text whose plus signs may have become spaces: unchanged, with those of times, and with all of them. */
export function withPluses(text: string): readonly string[] {
  return [
    text,
    text.replace(/(:\d\d(?:\.\d+)?) (?=\d\d:?\d\d)/g, '$1+'),
    text.replaceAll(' ', '+'),
  ];
}

export function parseJson(text: string): unknown {
  return attempt((): unknown => JSON.parse(text));
}
