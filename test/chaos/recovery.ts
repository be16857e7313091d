import type { Answered, Target } from './sender.js';

const LOOK_MS = 20;

/** When each receiver is well again after a fault that has hit all of them. */
export class Recovery {
  #since = 0;
  /** When each was answered well for the first time since then, by its port. */
  readonly #firstGood = new Map<number, number>();

  /** Only what is sent from now on counts. */
  begin(): void {
    this.#since = performance.now();
    this.#firstGood.clear();
  }

  heard({ port, status, sentAt }: Answered): void {
    const isGood = status >= 200 && status < 300;
    if (!isGood || sentAt < this.#since || this.#firstGood.has(port)) return;
    this.#firstGood.set(port, performance.now() - this.#since);
  }

  /** Waits until all are. Gives how long the last of them took; `Infinity` where that was too long. */
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
