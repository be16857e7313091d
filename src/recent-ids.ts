/** Remembers which content the latest ids came with, to notice an id that is used for another. */
export class RecentIds {
  readonly #keys = new Map<string, string>();
  readonly #limit: number;

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  /** Whether this id was last seen with another key. */
  isReused(scope: string, id: string, key: string): boolean {
    const name = JSON.stringify([scope, id]);
    const earlier = this.#keys.get(name);
    this.#keys.delete(name);
    this.#keys.set(name, key);
    const [oldest] = this.#keys.size > this.#limit ? this.#keys.keys() : [];
    if (oldest !== undefined) this.#keys.delete(oldest);
    return earlier !== undefined && earlier !== key;
  }
}
