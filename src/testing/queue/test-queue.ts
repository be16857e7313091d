import assert from 'node:assert/strict';
import type { HandOff } from '../../process/hand-off.js';
import type { Dispatching } from '../../queues/run-job.js';
import { forward } from '../../stores/forward.js';
import { memoryStore } from '../../stores/memory.js';
import type { IdempotencyStore } from '../../stores/store.js';
import { TEST_MS, type TestRunner } from '../suite.js';
import { defineCarrying } from './carrying.js';
import { defineRunning } from './running.js';

/** A queue as {@link testQueue} needs it: empty, and of one test. */
export interface TestedQueue {
  readonly queue: HandOff;
  /** The store of its deliveries, where that is to be tried with it. Default: one in memory. */
  readonly store?: IdempotencyStore;
  /** Has its jobs processed by a worker, until it is closed. */
  work(receiver: Dispatching): Promise<void>;
  /** How many jobs there are, done or not. */
  count(): Promise<number>;
  /** How many jobs are done. */
  countDone(): Promise<number>;
  /** Puts in a job as it is: whatever has write access may. */
  addJob(job: object): Promise<unknown>;
  /** Ends its server as a power cut does, and starts it again. */
  crash?(): Promise<unknown>;
  /** Ends its worker, and what it has open. */
  close(): Promise<unknown>;
}

/**
 * What not every queue can be asked.
 *
 * - `oneJob`: it keeps one job of a delivery, however often that is put in. The store has its handlers run
 *   once all the same.
 * - `redrive`: its {@link HandOff} has `redrive`. - `crash`: {@link TestedQueue.crash}.
 * - `down`: {@link QueueSuite.openDown}.
 */
export type QueueCapability = 'oneJob' | 'redrive' | 'crash' | 'down';

/** How {@link testQueue} gets its queues, and what it cannot ask of them. */
export interface QueueSuite {
  /**
   * Opens a queue of a test's own.
   *
   * @param options.attempts - How often a job is to be tried, in quick succession, before it is given up.
   */
  open(options: { readonly attempts: number }): Promise<TestedQueue>;
  /** Opens one whose server is down. */
  openDown?(): Promise<Pick<TestedQueue, 'queue' | 'close'>>;
  /** Why it cannot be asked something: the tests of that are skipped, and say the reason. */
  readonly lacks?: { readonly [Capability in QueueCapability]?: string };
}

/** What the tests of a queue are defined with. */
export interface Defining {
  /** @param needs - What the queue has to have for it. */
  test(name: string, run: () => Promise<void>, needs?: readonly QueueCapability[]): void;
  /** Opens a queue, gives it to a test, and closes it, whatever comes. */
  withQueue(run: (tested: Opened) => Promise<void>, attempts?: number): Promise<void>;
  readonly suite: QueueSuite;
  /** How many jobs there are of one delivery that was put in so often. */
  jobsOf(copies: number): number;
}

/** A queue that is open, and the store of its deliveries. */
export type Opened = TestedQueue & { readonly store: IdempotencyStore };

/**
 * Defines the tests that every queue of this package passes, for one of your own: it carries deliveries as
 * they are, loses none, has each run once, tries again what fails, and takes orders from nobody but the
 * receiver. Run them against the real thing.
 *
 * @param name - Of the queue, for the names of the tests.
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

/** A store that keeps dead letters, for as long as a test runs. */
function durableMemory(): IdempotencyStore {
  return forward(memoryStore(), { durable: true });
}
