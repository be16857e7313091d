const HALF = 5_000;

/** Remembers which key the latest ids came with, to notice an id that is used for another content. */
export class RecentIds {
  // Two generations: forgetting the older one whole costs nothing per delivery.
  #newer = new Map<string, string>();
  #older = new Map<string, string>();

  /** Whether this id was last seen with another key. */
  isReused(scope: string, id: string, key: string): boolean {
    const name = `${scope.length}:${scope}${id}`;
    const earlier = this.#newer.get(name) ?? this.#older.get(name);
    if (this.#newer.size >= HALF) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(name, key);
    return earlier !== undefined && earlier !== key;
  }
}
