import { WebhookError } from '../errors/errors.js';
import { copyText } from '../runtime/bytes.js';
import type { Json } from '../schemas/values.js';
import { type Claimable, ERROR_CHARACTERS, STALLED_MS, type UnfinishedState } from './store.js';

/** The entry of one key in the memory store. */
export interface Entry extends Aged<Entry> {
  readonly key: string;
  /** `undefined` once the delivery is done. */
  delivery: Claimable | undefined;
  /** Change it only with {@link MemoryEntries.move}. */
  state: 'leased' | 'retry' | 'done' | 'dead';
  owner: string;
  fence: number;
  attempts: number;
  failures: number;
  /** Whether the current lease was renewed. */
  renewed: boolean;
  steps: Readonly<Record<string, Json>>;
  /** The time when a lease expires or a retry is due. */
  notBefore: number;
  purgeAt: number;
  readonly isForEver: boolean;
  /** Change it only with {@link MemoryEntries.resize}. */
  bytes: number;
  /** Change it only with {@link MemoryEntries.setError}, unless the entry is resized as a whole. */
  error: string | undefined;
}

/** Returns the approximate size of a completed step. */
export function stepBytes(step: string, output: Json): number {
  return step.length + JSON.stringify(output).length;
}

function errorBytes({ error }: Entry): number {
  return 2 * (error?.length ?? 0);
}

export function isStalled({ state, notBefore }: Entry, now: number): boolean {
  return (state === 'leased' || state === 'retry') && notBefore < now - STALLED_MS;
}

function isFailing(entry: Entry, now: number): boolean {
  const { state, attempts, failures, notBefore } = entry;
  if ((state !== 'leased' && state !== 'retry') || isStalled(entry, now)) return false;
  return failures > 0 || attempts > 1 || (state === 'leased' && notBefore < now);
}

/** Returns, for each state that the operator can list, whether an entry is in it. */
export const IS_IN: Record<UnfinishedState, (entry: Entry, now: number) => boolean> = {
  dead: ({ state }) => state === 'dead',
  stalled: isStalled,
  failing: isFailing,
};

/** The entries of the memory store, within bounds. The least needed entries make room for new ones. */
export class MemoryEntries {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #byKey = new Map<string, Entry>();
  readonly #byState = {
    leased: new AgeList<Entry>(),
    retry: new AgeList<Entry>(),
    done: new AgeList<Entry>(),
    dead: new AgeList<Entry>(),
  };
  /** Idle entries that are kept forever: goods, and effects, which a replay under a new id would repeat. */
  readonly #forEver = new AgeList<Entry>();
  #bytes = 0;

  constructor(maxEntries: number, maxBytes: number) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get(key: string): Entry | undefined {
    return this.#byKey.get(key);
  }

  all(): Entry[] {
    return [...this.#byKey.values()];
  }

  /** @throws {WebhookError} `store_full` if the entries that are being processed leave no room. */
  add(entry: Entry, now: number): void {
    this.#makeRoom(1, entry.bytes, this.#lessNeeded(now));
    this.#byKey.set(entry.key, entry);
    this.#listOf(entry).add(entry);
    this.#bytes += entry.bytes;
  }

  /** Changes the state of an entry and makes it the newest of that state. */
  move(entry: Entry, state: Entry['state']): void {
    this.#listOf(entry).remove(entry);
    entry.state = state;
    this.#listOf(entry).add(entry);
  }

  /** @throws {WebhookError} `store_full` if a leased entry grows, and there is no room. */
  resize(entry: Entry, bytes: number): void {
    // Only idle entries are evicted, and this one is leased.
    if (bytes > entry.bytes) this.#makeRoom(0, bytes - entry.bytes, this.#idle());
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  /** Keeps the error of an entry, unless deliveries that are being processed leave no room for it. */
  setError(entry: Entry, text: string | undefined): void {
    const known = entry.bytes - errorBytes(entry);
    entry.error = text && copyText(text.slice(0, ERROR_CHARACTERS));
    try {
      this.resize(entry, known + errorBytes(entry));
    } catch {
      entry.error = undefined;
      this.resize(entry, known);
    }
  }

  forget(entry: Entry): void {
    this.#byKey.delete(entry.key);
    this.#listOf(entry).remove(entry);
    this.#bytes -= entry.bytes;
  }

  /** Forgets candidates until there is room. Forgets none if that would not be enough. */
  #makeRoom(count: number, bytes: number, candidates: Iterable<Entry>): void {
    let excess = this.#byKey.size + count - this.#maxEntries;
    let excessBytes = this.#bytes + bytes - this.#maxBytes;
    if (isWithin()) return;
    // Fail at once, without a look at all entries.
    if (bytes > this.#maxBytes) throw full();
    const forgotten: Entry[] = [];
    for (const entry of candidates) {
      forgotten.push(entry);
      excess -= 1;
      excessBytes -= entry.bytes;
      if (isWithin()) break;
    }
    if (!isWithin()) throw full();
    for (const entry of forgotten) this.forget(entry);

    function isWithin(): boolean {
      return excess <= 0 && excessBytes <= 0;
    }
  }

  #listOf({ state, isForEver }: Entry): AgeList<Entry> {
    const isIdle = state === 'done' || state === 'retry';
    return isIdle && isForEver ? this.#forEver : this.#byState[state];
  }

  /** Yields the idle entries, then those whose lease has expired, but none that is being processed. */
  *#lessNeeded(now: number): Iterable<Entry> {
    yield* this.#idle();
    for (const entry of fromOldest(this.#byState.leased)) {
      if (entry.notBefore > now) return;
      yield entry;
    }
  }

  /** Yields done entries, then those that wait for a retry, dead ones, and last effects and goods. */
  *#idle(): Iterable<Entry> {
    const { retry, done, dead } = this.#byState;
    for (const list of [done, retry, dead, this.#forEver]) yield* fromOldest(list);
  }
}

function* fromOldest(list: AgeList<Entry>): Iterable<Entry> {
  for (let entry = list.oldest; entry; entry = entry.newer) yield entry;
}

function full(): WebhookError {
  return new WebhookError(
    'store_full',
    'The memory store is full of deliveries that are being processed. ' +
      'Raise its maxEntries or maxBytes, or use a durable store.',
  );
}

/** The links that an {@link AgeList} keeps in its items. */
export interface Aged<Item> {
  older: Item | undefined;
  newer: Item | undefined;
}

/**
 * A list of items in the order in which they were added. Removing any item takes constant time. A Set would do,
 * but finding its first key steps over all keys deleted before it: in a full store of 10,000, a delivery would
 * take 1.25 times as long.
 */
export class AgeList<Item extends Aged<Item>> {
  #oldest: Item | undefined;
  #newest: Item | undefined;

  get oldest(): Item | undefined {
    return this.#oldest;
  }

  /** Adds an item that is in no list. */
  add(item: Item): void {
    item.older = this.#newest;
    if (this.#newest) this.#newest.newer = item;
    else this.#oldest = item;
    this.#newest = item;
  }

  /** Removes an item that is in this list. */
  remove(item: Item): void {
    if (item.older) item.older.newer = item.newer;
    else this.#oldest = item.newer;
    if (item.newer) item.newer.older = item.older;
    else this.#newest = item.older;
    item.older = undefined;
    item.newer = undefined;
  }
}
