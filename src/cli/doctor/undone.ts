import { type Candidate, type CauseCode, type Place, type Step, step } from './cause.js';
import { toBytes } from './charsets.js';

/** A body before something was done to it; none where it cannot have been. */
export function one(
  value: Uint8Array | string | undefined,
  code: CauseCode,
  message: string,
  place: Place = 'transport',
): readonly Candidate<Uint8Array>[] {
  if (value === undefined) return [];
  const steps: readonly Step[] = [step(code, place, message)];
  return [{ value: typeof value === 'string' ? toBytes(value) : value, steps }];
}

/** What throws gives nothing: any bytes may come here. */
export function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Text whose plus signs have become spaces: as it is, with those of times, and with all of them. */
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
