import { UsageError } from './errors.js';
import { type OptionNaming, refuseUnknownOption } from './text.js';

/**
 * Checks the options of a function. Each check throws a `UsageError`, `option_invalid`, that says what to change.
 */
export class OptionChecks {
  readonly #caller: string;

  /** @param caller - The function whose options these are, as its user calls it. */
  constructor(caller: string) {
    this.#caller = caller;
  }

  /** @param expected - The values that the option takes, as the end of a sentence. */
  check(condition: boolean, option: string, expected: string): void {
    if (!condition) this.refuse(`the option ${option} has to be ${expected}.`);
  }

  checkNames(given: object, known: readonly string[], naming?: OptionNaming): void {
    refuseUnknownOption(this.#caller, given, known, naming);
  }

  atLeastOne(name: string, value: number): number {
    this.check(Number.isSafeInteger(value) && value >= 1, name, 'a whole number of at least 1');
    return value;
  }

  positive(name: string, value: number, max = MAX_TIMER_MS): number {
    this.check(
      typeof value === 'number' && value > 0 && value <= max,
      name,
      max === Number.POSITIVE_INFINITY
        ? 'a number above 0'
        : `milliseconds above 0, and at most ${max}`,
    );
    return value;
  }

  refuse(why: string): never {
    throw new UsageError('option_invalid', `${this.#caller}: ${why}`);
  }
}

/** The largest delay that timers accept. With a larger one they would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
