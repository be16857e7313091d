import { inTime, MAX_TIMER_MS } from '../in-time.js';

/** The answers that are on their way: whoever closes a receiver may end the process next. */
export class Answers {
  readonly #open = new Set<PromiseLike<unknown>>();

  add(answered: PromiseLike<unknown>): void {
    // An adapter of somebody's own may give anything: no order is lost over it.
    const leaving = Promise.resolve(answered);
    this.#open.add(leaving);
    const forget = () => this.#open.delete(leaving);
    leaving.then(forget, forget);
  }

  /** Waits until all have left, at most `timeoutMs`. */
  async left(timeoutMs: number): Promise<void> {
    const all = Promise.allSettled(this.#open);
    await inTime(all, 'An answer', Math.min(timeoutMs, MAX_TIMER_MS)).catch(() => {});
  }
}
