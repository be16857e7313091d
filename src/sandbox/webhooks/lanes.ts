import { setTimeout as sleep } from 'node:timers/promises';

/** How long something of a name is waited for before the next of that name begins, in milliseconds outside. */
const PATIENCE_MS = 500;

/**
 * Runs what is of one name one after the other, and what is of different names at once. What takes long is not waited
 * for, so that one that hangs does not hold up all.
 */
export class Lanes {
  readonly #last = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();

  /** @param work - Rejects never. */
  run(name: string, work: () => Promise<void>): Promise<void> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const running = before.then(work).then(() => {
      this.#running.delete(running);
    });
    this.#running.add(running);
    const turn = before
      .then(() => Promise.race([running, sleep(PATIENCE_MS, undefined, { ref: false })]))
      .then(() => {
        if (this.#last.get(name) === turn) this.#last.delete(name);
      });
    this.#last.set(name, turn);
    return running;
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
