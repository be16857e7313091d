import type { UNKNOWNS } from '../../../src/sandbox/unknowns.js';

/** Where the specification says nothing that a test could hold, and the sandbox chooses. */
export type PlaceName = keyof typeof UNKNOWNS;

/** What is known of a rule. */
export type Evidence =
  /** Stated, and asserted by the tests whose names begin so. */
  | { readonly tests: readonly string[] }
  /** Not shown: what the sandbox does is an option with a default, whose choices have tests. */
  | { readonly assumed: PlaceName; readonly tests: readonly string[] }
  /** Nothing is assumed about it, and no test asserts it. */
  | { readonly unknown: string };

/** A rule in the words of the specification; what a table says begins with its row, in backquotes. */
export type Rule = readonly [says: string, evidence: Evidence];

/** The rules of each section, by its heading. */
export type Chapter = Readonly<Record<string, readonly Rule[]>>;

/** Of the tests of the same section, unless a name begins with the section of others: `[spec: …] …`. */
export const by = (...tests: readonly string[]): Evidence => ({ tests });
export const assumed = (place: PlaceName, ...tests: readonly string[]): Evidence => ({
  assumed: place,
  tests,
});
export const unknown = (why: string): Evidence => ({ unknown: why });

/** By the test of a field, which is named `field: what it is`. */
export const field = (name: string): Evidence => by(`${name}: `);

/** By the tests of a field of either variant. */
export const eachVariant = (name: string, ...more: readonly string[]): Evidence =>
  by(`${name}: `, `older variant, ${name}: `, ...more);
