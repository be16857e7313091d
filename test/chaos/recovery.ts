import type { Answered, Target } from './sender.js';

const LOOK_MS = 20;

/** The time when each receiver works again after a fault of all receivers. */
export class Recovery {
  #since = 0;
  /** The time of the first success of each since then, by port. */
  readonly #firstGood = new Map<number, number>();

  /** Only requests that are sent from now on count. */
  begin(): void {
    this.#since = performance.now();
    this.#firstGood.clear();
  }

  heard({ port, status, sentAt }: Answered): void {
    const isGood = status >= 200 && status < 300;
    if (!isGood || sentAt < this.#since || this.#firstGood.has(port)) return;
    this.#firstGood.set(port, performance.now() - this.#since);
  }

  /** Waits for all of them. Returns the time of the last one; `Infinity` if it was too long. */
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
