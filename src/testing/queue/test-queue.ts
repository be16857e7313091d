import assert from 'node:assert/strict';
import { forward } from '../../stores/contract.js';
import { memoryStore } from '../../stores/memory.js';
import type { IdempotencyStore } from '../../stores/store.js';
import { TEST_MS, type TestRunner } from '../suite.js';
import { defineCarrying } from './carry-suite.js';
import { defineRunning } from './run-suite.js';
import type { Defining, QueueSuite } from './tested-queue.js';

/**
 * Defines the tests that every queue of this package passes, for one of your own. The queue carries
 * deliveries unchanged, loses none, runs each once, retries those that fail, and accepts jobs from the
 * receiver alone. Run the tests against the real queue.
 *
 * The tests cannot kill a worker. Test that yourself: kill a worker in the middle of a job with SIGKILL, and check that
 * the queue gives the job again.
 *
 * @param name - The name of the queue, for the names of the tests.
 * @param runner - `{ describe, test }` of `node:test`, Vitest or Jest.
 *
 * @example
 * import { describe, test } from 'node:test';
 *
 * testQueue('jobs', { open: ({ attempts }) => openQueue(attempts), lacks: { crash: 'it is hosted' } }, { describe, test });
 */
export function testQueue(name: string, suite: QueueSuite, { describe, test }: TestRunner): void {
  const defining: Defining = {
    suite,
    jobsOf: (copies) => (suite.lacks?.oneJob === undefined ? 1 : copies),
    test: (title, run, needs = []) => {
      const [missing] = needs.filter((need) => suite.lacks?.[need] !== undefined);
      if (missing) test.skip(`${title} (${suite.lacks?.[missing]})`, () => {});
      else test(title, run, TEST_MS);
    },
    withQueue: async (run, attempts = 3) => {
      const tested = await suite.open({ attempts });
      try {
        assert.equal(tested.queue.durable, true);
        await run({ ...tested, store: tested.store ?? durableMemory() });
      } finally {
        await tested.close();
      }
    },
  };
  describe(`the ${name} queue`, () => {
    defineRunning(defining);
    defineCarrying(defining);
  });
}

/** Returns a store that keeps dead letters while a test runs. */
function durableMemory(): IdempotencyStore {
  return forward(memoryStore(), { durable: true });
}
