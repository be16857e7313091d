import { sha2 } from '../request/sha2.js';

const HALF = 5_000;

/** Remembers which content the latest ids came with, to notice an id that is used for another. */
export class RecentIds {
  // Two generations: forgetting the older one whole costs nothing per delivery.
  #newer = new Map<string, string>();
  #older = new Map<string, string>();

  /** Whether this id was last seen with other content. */
  isReused(scope: string, id: string, content: string): boolean {
    // Hashed, because an id may be as long as its sender likes.
    const name = sha2.sha256(JSON.stringify([scope, id]));
    const state = sha2.sha256(content);
    const earlier = this.#newer.get(name) ?? this.#older.get(name);
    if (this.#newer.size >= HALF) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(name, state);
    return earlier !== undefined && earlier !== state;
  }
}
