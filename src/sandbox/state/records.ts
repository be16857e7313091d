import type { Changes } from './changes.js';

/** What every record has. */
export interface Identified {
  readonly id: string;
}

interface Entry<T> {
  /** Grows with each record, and is never given again while the record before is there. */
  readonly place: number;
  value: T;
}

/** A page of records, and how many there are of them. */
export interface RecordPage<T> {
  readonly items: readonly T[];
  readonly totalPages: number;
}

/** The records of one kind in one account. They are replaced, never changed in place. */
export class Records<T extends Identified> implements Iterable<T> {
  readonly #kind: string;
  readonly #changes: Changes;
  readonly #byId = new Map<string, Entry<T>>();
  /** The oldest first, and so in the order of their places. */
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

  /** The newest first. */
  *[Symbol.iterator](): Iterator<T> {
    for (let at = this.#entries.length - 1; at >= 0; at--) {
      const entry = this.#entries[at];
      if (entry) yield entry.value;
    }
  }

  /** A page, the newest record first. Takes as long as the page is, however many records there are. */
  page(page: number, perPage: number): RecordPage<T> {
    const end = Math.max(0, this.#entries.length - (page - 1) * perPage);
    const entries = this.#entries.slice(Math.max(0, end - perPage), end).reverse();
    return {
      items: entries.map(({ value }) => value),
      totalPages: Math.max(1, Math.ceil(this.#entries.length / perPage)),
    };
  }

  /** Adds a record, or replaces the one of its id. */
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

  /** Deletes a record for good; `false` where there is none of that id. */
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

  /** Puts back what the journal has kept. To be called in the order of the places. */
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

  /** Where the entry of a place is, by halves. */
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

/** A record with what is given of its fields. */
export function withChanges<T extends object>(
  record: T,
  changes: { readonly [Field in keyof T]?: T[Field] | undefined },
): T {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...record, ...Object.fromEntries(given) };
}
