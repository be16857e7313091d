const PIECES = 16;

/** The deliveries that the provider will retry: how many, when, and after how many failures. */
export class Waiting {
  #delays;
  #jitter;
  #due = new Map();
  count = 0;

  constructor({ delays, jitter = 0 }) {
    this.#delays = delays;
    this.#jitter = jitter;
  }

  /** Removes and returns the deliveries of this second, by their number of failures. */
  due(second) {
    const cohorts = this.#due.get(second) ?? [];
    this.#due.delete(second);
    const all = Array.from(cohorts, (count) => count ?? 0);
    for (const count of all) this.count -= count;
    return all;
  }

  /**
   * Schedules the retries of failed deliveries, by their number of earlier failures.
   *
   * @param {{ delay: number, jitter?: number }} [asked] - The delay that the receiver has asked for, if it is
   *   longer.
   * @returns The number of deliveries that are not retried.
   */
  fail(second, cohorts, asked = { delay: 0 }) {
    let lost = 0;
    for (const [failures, count] of cohorts.entries()) {
      if (count === 0) continue;
      const delay = this.#delays[failures];
      if (delay === undefined) {
        lost += count;
        continue;
      }
      const own = { delay, jitter: this.#jitter };
      this.#spread(second, asked.delay > delay ? asked : own, failures + 1, count);
    }
    return lost;
  }

  #spread(second, { delay, jitter = 0 }, failures, count) {
    const width = Math.floor(delay * jitter);
    const pieces = Math.min(PIECES, 2 * width + 1, count);
    let placed = 0;
    for (let piece = 0; piece < pieces; piece++) {
      const upToHere = Math.round(((piece + 1) / pieces) * count);
      const offset = pieces === 1 ? 0 : Math.round((piece / (pieces - 1)) * 2 * width) - width;
      this.#add(second + Math.max(1, delay + offset), failures, upToHere - placed);
      placed = upToHere;
    }
  }

  #add(second, failures, count) {
    const cohorts = this.#due.get(second) ?? [];
    cohorts[failures] = (cohorts[failures] ?? 0) + count;
    this.#due.set(second, cohorts);
    this.count += count;
  }
}
