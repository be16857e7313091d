import { didYouMean } from '../errors/text.js';

/** Returns ` Did you mean …?` if a given name is close to a known one, otherwise an empty text. */
export function closest(given: string, names: readonly string[]): string {
  const hint = names.length === 0 ? '' : didYouMean(given, names).trim();
  return hint === '' ? '' : ` ${hint}`;
}
