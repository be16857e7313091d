import { didYouMean } from '../report/text.js';

/** ` Did you mean …?`, where a name is close to one that there is. */
export function closest(given: string, names: readonly string[]): string {
  const hint = names.length === 0 ? '' : didYouMean(given, names).trim();
  return hint === '' ? '' : ` ${hint}`;
}
