/** The highest cost that the search tries. */
export const MAX_COST = 13;

/** A queue of attempts, cheapest first. The cost is about the logarithm of how many others are as likely. */
export class Agenda<Made> {
  readonly #buckets = Array.from({ length: MAX_COST + 1 }, (): Entry<Made>[] => []);
  #left: number;

  /** @param most - How much work to do at most, in about nanoseconds. */
  constructor(most: number) {
    this.#left = most;
  }

  spend({ each, byte }: Work, bytes: number): void {
    this.#left -= each + byte * bytes;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /**
   * @param family - The name of this in the answer, if the search ends before trying it.
   * @param make - May add entries of the same cost or a higher one.
   */
  add(cost: number, family: string, make: () => Iterable<Made>): void {
    this.#buckets[Math.ceil(cost)]?.push({ family, make });
  }

  *work(): Generator<Made> {
    for (const bucket of this.#buckets) {
      for (const [index, { make }] of bucket.entries()) {
        for (const made of make()) {
          yield made;
          if (this.isSpent) return;
        }
        if (this.isSpent) return;
        bucket[index] = { family: undefined, make: () => [] };
      }
    }
  }

  /** The families that were not tried, or not completely. */
  get left(): string[] {
    const families = this.#buckets.flat().map(({ family }) => family);
    return [...new Set(families)].filter((family) => family !== undefined);
  }
}

/** The cost of an operation in about nanoseconds: a fixed part, and a part for each byte. */
export interface Work {
  readonly each: number;
  readonly byte: number;
}

interface Entry<Made> {
  readonly family: string | undefined;
  readonly make: () => Iterable<Made>;
}
