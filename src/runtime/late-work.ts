/** Work that goes on beside the requests, because no response waits for it. */
export class LateWork {
  /** The running work that {@link #earlier} does not wait for. */
  readonly #recent = new Set<Promise<unknown>>();
  #earlier: Promise<void> | undefined;

  /** @param work - Must not reject. */
  add(work: Promise<unknown>): void {
    this.#recent.add(work);
    void work.then(() => this.#recent.delete(work));
  }

  /**
   * Resolves when all work that is running now has ended; `undefined` if none is. Each response asks, so they share
   * one wait for each piece of work.
   */
  get ended(): Promise<void> | undefined {
    if (this.#recent.size > 0) {
      const all = Promise.all([this.#earlier, ...this.#recent]).then(() => {
        if (this.#earlier === all) this.#earlier = undefined;
      });
      this.#recent.clear();
      this.#earlier = all;
    }
    return this.#earlier;
  }
}
