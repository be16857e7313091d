import type { Answered, Target } from './sender.js';

const LOOK_MS = 20;

/** Measures when each receiver works again after a fault that affected all of them. */
export class Recovery {
  #since = 0;
  /** The time of each receiver's first success since the fault, by port. */
  readonly #firstGood = new Map<number, number>();

  /** Starts the measurement. Only requests that are sent from now on count. */
  begin(): void {
    this.#since = performance.now();
    this.#firstGood.clear();
  }

  heard({ port, status, sentAt }: Answered): void {
    const isGood = status >= 200 && status < 300;
    if (!isGood || sentAt < this.#since || this.#firstGood.has(port)) return;
    this.#firstGood.set(port, performance.now() - this.#since);
  }

  /** Waits until all receivers work again. Returns the time of the last one; `Infinity` after `limitMs`. */
  async all(targets: () => readonly Target[], limitMs: number): Promise<number> {
    const giveUpAt = performance.now() + limitMs;
    while (performance.now() < giveUpAt) {
      const took = targets().map(({ port }) => this.#firstGood.get(port));
      if (took.length > 0 && took.every((ms) => ms !== undefined)) return Math.max(...took);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return Number.POSITIVE_INFINITY;
  }
}
