import type { HandOff } from '../../process/queue.js';
import type { Dispatching } from '../../queues/run-job.js';
import type { IdempotencyStore } from '../../stores/store.js';

/** An empty queue for one test of `testQueue()`. */
export interface TestedQueue {
  readonly queue: HandOff;
  /** The store of its deliveries, if the queue should be tested with it. Default: one in memory. */
  readonly store?: IdempotencyStore;
  /** Processes the jobs with a worker, until the queue is closed. */
  work(receiver: Dispatching): Promise<void>;
  /** Returns the number of jobs, done or not. */
  count(): Promise<number>;
  /** Returns the number of jobs that are done. */
  countDone(): Promise<number>;
  /** Adds a job as it is, as anyone with write access could. */
  addJob(job: object): Promise<unknown>;
  /** Ends the queue's server as a power cut would, and starts it again. */
  crash?(): Promise<unknown>;
  /** Closes the worker, and everything that the queue has open. */
  close(): Promise<unknown>;
}

/**
 * The capabilities that not every queue has.
 *
 * - `oneJob`: the queue keeps one job of a delivery, however often the delivery is added. Without it, the
 *   store still makes the handlers run once.
 * - `redrive`: its {@link HandOff} has `redrive`.
 * - `crash`: {@link TestedQueue.crash}.
 * - `down`: {@link QueueSuite.openDown}.
 */
export type QueueCapability = 'oneJob' | 'redrive' | 'crash' | 'down';

/** Options of `testQueue()`: how to open queues, and what they lack. */
export interface QueueSuite {
  /**
   * Opens a queue for one test.
   *
   * @param options.attempts - How often to try a job, in quick succession, before the queue gives it up.
   */
  open(options: { readonly attempts: number }): Promise<TestedQueue>;
  /** Opens a queue whose server is down. */
  openDown?(): Promise<Pick<TestedQueue, 'queue' | 'close'>>;
  /** The reason for each capability that the queue lacks. Its tests are skipped, with the reason. */
  readonly lacks?: { readonly [Capability in QueueCapability]?: string };
}

/** The functions that define the tests of a queue. */
export interface Defining {
  /**
   * Defines a test.
   *
   * @param needs - The capabilities that the test needs.
   */
  test(name: string, run: () => Promise<void>, needs?: readonly QueueCapability[]): void;
  /** Opens a queue, passes it to a test, and closes it in any case. */
  withQueue(run: (tested: Opened) => Promise<void>, attempts?: number): Promise<void>;
  readonly suite: QueueSuite;
  /** Returns the number of jobs of a delivery that was added `copies` times. */
  jobsOf(copies: number): number;
}

export type Opened = TestedQueue & { readonly store: IdempotencyStore };
