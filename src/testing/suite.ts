import assert from 'node:assert/strict';
import { now, sleep } from './timers.js';

/** The functions of your test runner that a suite uses: `{ describe, test }` of `node:test`, Vitest or Jest. */
export interface TestRunner {
  describe(name: string, define: () => void): unknown;
  readonly test: {
    // `node:test` has no default timeout, and ignores this one.
    (name: string, run: () => Promise<void>, timeoutMs: number): unknown;
    skip(name: string, run: () => void): unknown;
  };
}

/** How long to wait for an event. A machine may stall for a while. */
const SOON_MS = 20_000;

/** The timeout of a whole test, which may wait several times. */
export const TEST_MS = 60_000;

/**
 * Calls `look` until it returns something, and returns that.
 *
 * @param what - The event that is waited for, for the message if it never happens.
 */
export async function eventually<Found>(
  what: string,
  look: () => Found | Promise<Found>,
): Promise<NonNullable<Found>> {
  const giveUpAt = now() + SOON_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (now() > giveUpAt) assert.fail(`This did not happen within ${SOON_MS / 1_000} s: ${what}.`);
    await sleep(20);
  }
}

/** Asserts that a value has these parts, at any depth. It may have others. */
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
