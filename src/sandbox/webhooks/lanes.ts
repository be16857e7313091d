import { idleFor } from '../../testing/timers.js';

/** The longest that work waits for the work before it with the same name, in milliseconds of real time. */
const PATIENCE_MS = 500;

/**
 * Runs work of the same name one after the other, and work of different names at once. The wait has a limit, so
 * that work that hangs does not hold up all the rest.
 */
export class Lanes {
  readonly #last = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();

  /** @param work - Must never reject. */
  run(name: string, work: () => Promise<void>): Promise<void> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const running = before.then(work).then(() => {
      this.#running.delete(running);
    });
    this.#running.add(running);
    const turn = before
      .then(() => Promise.race([running, idleFor(PATIENCE_MS)]))
      .then(() => {
        if (this.#last.get(name) === turn) this.#last.delete(name);
      });
    this.#last.set(name, turn);
    return running;
  }

  /** Resolves when no work is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
