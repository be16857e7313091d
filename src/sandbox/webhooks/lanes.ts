/** Runs what is of one name one after the other, and what is of different names at once. */
export class Lanes {
  readonly #last = new Map<string, Promise<void>>();

  /** @param work - Rejects never. */
  run(name: string, work: () => Promise<void>): Promise<void> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const running = before.then(work).then(() => {
      if (this.#last.get(name) === running) this.#last.delete(name);
    });
    this.#last.set(name, running);
    return running;
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }
}
