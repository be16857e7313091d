import assert from 'node:assert/strict';
import { pause } from '../timing.js';

/** What a suite needs of your test runner: `{ describe, test }` of `node:test`, Vitest or Jest. */
export interface TestRunner {
  describe(name: string, define: () => void): unknown;
  readonly test: {
    // `node:test` has no limit of its own, and takes no notice of this one.
    (name: string, run: () => Promise<void>, timeoutMs: number): unknown;
    skip(name: string, run: () => void): unknown;
  };
}

/** A machine may stall for a while. */
const SOON_MS = 20_000;

/** For a whole test, which may wait several times. */
export const TEST_MS = 60_000;

/**
 * Looks again and again until there is something, and gives it.
 *
 * @param what - What is waited for, as it is said where it never comes.
 */
export async function eventually<Found>(
  what: string,
  look: () => Found | Promise<Found>,
): Promise<NonNullable<Found>> {
  const giveUpAt = performance.now() + SOON_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > giveUpAt) assert.fail(`This was waited for in vain: ${what}.`);
    await pause(20);
  }
}

/** Asserts that a value has these parts, however deep, whatever else it has. */
export function hasParts(actual: unknown, parts: object): void {
  assert.deepEqual(partsOf(actual, parts), parts);
}

function partsOf(actual: unknown, parts: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(parts))
    return actual.map((each, index) => partsOf(each, parts[index]));
  if (typeof actual !== 'object' || actual === null || !isPlain(parts)) return actual;
  const entries = Object.entries(parts);
  return Object.fromEntries(
    entries.map(([name, part]) => [name, partsOf(Reflect.get(actual, name), part)]),
  );
}

function isPlain(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}
