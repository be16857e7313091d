/** Work that goes on beside the requests, because no response waits for it. */
export class LateWork {
  readonly #running = new Set<Promise<unknown>>();

  /** @param work - Must not reject. */
  add(work: Promise<unknown>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  /** Resolves when all of it has ended, with the work that it begins; `undefined` if none is running. */
  get ended(): Promise<void> | undefined {
    return this.#running.size > 0 ? this.#end() : undefined;
  }

  async #end(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
