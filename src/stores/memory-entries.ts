import { WebhookError } from '../errors.js';
import type { Json } from '../schemas/json.js';
import { type Aged, AgeList } from './age-list.js';
import type { Claimable } from './store.js';

/** What the memory store keeps of one key. */
export interface Entry extends Aged<Entry> {
  readonly key: string;
  /** Not kept once it is done. */
  delivery: Claimable | undefined;
  /** Changed by {@link MemoryEntries.move} only. */
  state: 'leased' | 'retry' | 'done' | 'dead';
  owner: string;
  fence: number;
  attempts: number;
  failures: number;
  done: Readonly<Record<string, Json>>;
  /** Leased: when the lease lapses. Retry: when it is due. */
  notBefore: number;
  purgeAt: number;
  readonly isForEver: boolean;
  /** Changed by {@link MemoryEntries.resize} only. */
  bytes: number;
  error: string | undefined;
}

/** The entries of the memory store, within bounds: those that are needed least make room for new ones. */
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
  /** Done and kept for ever: effects, which a replay under a fresh id would have done again. */
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

  /** @throws {WebhookError} `store_full` where all others are being processed. */
  add(entry: Entry, now: number): void {
    this.#makeRoom(entry.bytes, now);
    this.#byKey.set(entry.key, entry);
    this.#listOf(entry).add(entry);
    this.#bytes += entry.bytes;
  }

  /** Makes an entry the latest of its new state. */
  move(entry: Entry, state: Entry['state']): void {
    this.#listOf(entry).remove(entry);
    entry.state = state;
    this.#listOf(entry).add(entry);
  }

  resize(entry: Entry, bytes: number): void {
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  forget(entry: Entry): void {
    this.#byKey.delete(entry.key);
    this.#listOf(entry).remove(entry);
    this.#bytes -= entry.bytes;
  }

  #makeRoom(bytes: number, now: number): void {
    while (this.#byKey.size >= this.#maxEntries || this.#bytes + bytes > this.#maxBytes) {
      const entry = this.#leastNeeded(now);
      if (!entry) {
        throw new WebhookError(
          'store_full',
          'The memory store is full of deliveries that are being processed. ' +
            'Raise its maxEntries or maxBytes, or use a durable store.',
        );
      }
      this.forget(entry);
    }
  }

  #listOf({ state, isForEver }: Entry): AgeList<Entry> {
    return state === 'done' && isForEver ? this.#forEver : this.#byState[state];
  }

  /** What is done, then what waits longest for a retry, then effects; never what is being processed. */
  #leastNeeded(now: number): Entry | undefined {
    const { leased, retry, done, dead } = this.#byState;
    const idle = done.oldest ?? retry.oldest ?? dead.oldest ?? this.#forEver.oldest;
    if (idle) return idle;
    return leased.oldest && leased.oldest.notBefore <= now ? leased.oldest : undefined;
  }
}
