import type { UNKNOWNS } from '../../../src/sandbox/unknowns.js';

/** A place that the specification leaves open, so the sandbox has an option for it. */
export type PlaceName = keyof typeof UNKNOWNS;

/** The evidence for a rule. */
export type Evidence =
  /** Stated in the specification. The tests whose names begin with these texts assert it. */
  | { readonly tests: readonly string[] }
  /** Not shown in the specification. An option with a default decides, and each choice has a test. */
  | { readonly assumed: PlaceName; readonly tests: readonly string[] }
  /** Nothing is known, and no test asserts anything. */
  | { readonly unknown: string };

/** A rule in the words of the specification. A rule from a table begins with its row, in backquotes. */
export type Rule = readonly [says: string, evidence: Evidence];

/** The rules of each section by its heading. */
export type Chapter = Readonly<Record<string, readonly Rule[]>>;

/** Refers to tests of the same section, or, as `[spec: …] …`, to tests of another section. */
export const by = (...tests: readonly string[]): Evidence => ({ tests });
export const assumed = (place: PlaceName, ...tests: readonly string[]): Evidence => ({
  assumed: place,
  tests,
});
export const unknown = (why: string): Evidence => ({ unknown: why });

/** Refers to the test of a field, named `field: description`. */
export const field = (name: string): Evidence => by(`${name}: `);

/** Refers to the tests of a field in both variants. */
export const eachVariant = (name: string, ...more: readonly string[]): Evidence =>
  by(`${name}: `, `older variant, ${name}: `, ...more);
