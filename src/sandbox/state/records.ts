import type { Changes } from './changes.js';

/** A record with an id. */
export interface Identified {
  readonly id: string;
}

interface Entry<T> {
  /** Grows with each record. A place is reused only if the newest record was deleted. */
  readonly place: number;
  value: T;
}

/** A page of records, and the number of pages. */
export interface RecordPage<T> {
  readonly items: readonly T[];
  readonly totalPages: number;
}

/** The records of one kind in one account. A change replaces its record. */
export class Records<T extends Identified> implements Iterable<T> {
  readonly #kind: string;
  readonly #changes: Changes;
  readonly #byId = new Map<string, Entry<T>>();
  /** Oldest first, and so in the order of their places. */
  readonly #entries: Entry<T>[] = [];

  constructor(kind: string, changes: Changes) {
    this.#kind = kind;
    this.#changes = changes;
  }

  get size(): number {
    return this.#entries.length;
  }

  get(id: string): T | undefined {
    return this.#byId.get(id)?.value;
  }

  /** Yields the records, newest first. */
  *[Symbol.iterator](): Iterator<T> {
    for (let at = this.#entries.length - 1; at >= 0; at--) {
      const entry = this.#entries[at];
      if (entry) yield entry.value;
    }
  }

  /**
   * Returns a page, newest record first. The cost depends on the length of the page, not on the number of
   * records.
   */
  page(page: number, perPage: number): RecordPage<T> {
    const end = Math.max(0, this.#entries.length - (page - 1) * perPage);
    const entries = this.#entries.slice(Math.max(0, end - perPage), end).reverse();
    return {
      items: entries.map(({ value }) => value),
      totalPages: Math.max(1, Math.ceil(this.#entries.length / perPage)),
    };
  }

  /** Adds a record, or replaces the one with its id. */
  put(value: T): T {
    const entry = this.#byId.get(value.id);
    if (entry) {
      const before = entry.value;
      entry.value = value;
      this.#tell(entry.place, value, () => {
        entry.value = before;
      });
    } else {
      const place = (this.#entries.at(-1)?.place ?? 0) + 1;
      this.restore(place, value);
      this.#tell(place, value, () => this.#remove(place, value.id));
    }
    return value;
  }

  /** Deletes a record permanently. Returns `false` if no record has the id. */
  delete(id: string): boolean {
    const entry = this.#byId.get(id);
    if (!entry) return false;
    const at = this.#remove(entry.place, id);
    this.#tell(entry.place, undefined, () => {
      this.#entries.splice(at, 0, entry);
      this.#byId.set(id, entry);
    });
    return true;
  }

  clear(): void {
    for (const { value } of [...this.#entries].reverse()) this.delete(value.id);
  }

  /** Restores a record from the journal. Call it in the order of the places. */
  restore(place: number, value: T): void {
    const entry = { place, value };
    this.#entries.push(entry);
    this.#byId.set(value.id, entry);
  }

  #remove(place: number, id: string): number {
    const at = this.#find(place);
    this.#entries.splice(at, 1);
    this.#byId.delete(id);
    return at;
  }

  /** Returns the index of a place's entry, by binary search. */
  #find(place: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.place ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #tell(place: number, value: T | undefined, undo: () => void): void {
    this.#changes.add({ kind: this.#kind, place, value }, undo);
  }
}

/** Returns a copy of a record with those changes that are not `undefined`. */
export function withChanges<T extends object>(
  record: T,
  changes: { readonly [Field in keyof T]?: T[Field] | undefined },
): T {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...record, ...Object.fromEntries(given) };
}
