import { WebhookError } from '../errors.js';
import type { Json } from '../schemas/json.js';
import { type Aged, AgeList } from './age-list.js';
import { type Claimable, STALLED_MS, type UnfinishedState } from './store.js';

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
  /** Whether its lease was, since it was claimed. */
  renewed: boolean;
  steps: Readonly<Record<string, Json>>;
  /** Leased: when the lease lapses. Retry: when it is due. */
  notBefore: number;
  purgeAt: number;
  readonly isForEver: boolean;
  /** Changed by {@link MemoryEntries.resize} only. */
  bytes: number;
  error: string | undefined;
}

/** What it takes to remember a completed step. */
export function stepBytes(step: string, output: Json): number {
  return step.length + JSON.stringify(output).length;
}

export function isStalled({ state, notBefore }: Entry, now: number): boolean {
  return (state === 'leased' || state === 'retry') && notBefore < now - STALLED_MS;
}

function isFailing(entry: Entry, now: number): boolean {
  const { state, attempts, failures, notBefore } = entry;
  if ((state !== 'leased' && state !== 'retry') || isStalled(entry, now)) return false;
  return failures > 0 || attempts > 1 || (state === 'leased' && notBefore < now);
}

/** Whether an entry is in a state in which a person finds it. */
export const IS_IN: Record<UnfinishedState, (entry: Entry, now: number) => boolean> = {
  dead: ({ state }) => state === 'dead',
  stalled: isStalled,
  failing: isFailing,
};

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
  /** Kept for ever, and not leased: effects, which a replay under a fresh id would have done again, and goods. */
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

  /** @throws {WebhookError} `store_full` where there is no room beside those that are being processed. */
  add(entry: Entry, now: number): void {
    this.#makeRoom(1, entry.bytes, this.#lessNeeded(now));
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

  /** @throws {WebhookError} `store_full` where a leased entry grows, and there is no room for that. */
  resize(entry: Entry, bytes: number): void {
    // Never takes itself: it is leased.
    if (bytes > entry.bytes) this.#makeRoom(0, bytes - entry.bytes, this.#idle());
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  forget(entry: Entry): void {
    this.#byKey.delete(entry.key);
    this.#listOf(entry).remove(entry);
    this.#bytes -= entry.bytes;
  }

  /** Forgets nothing where that would not make room enough. */
  #makeRoom(count: number, bytes: number, candidates: Iterable<Entry>): void {
    let excess = this.#byKey.size + count - this.#maxEntries;
    let excessBytes = this.#bytes + bytes - this.#maxBytes;
    if (isWithin()) return;
    // At once, without a look at all that there is.
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

  /** What is done, then what waits longest for a retry, then effects and goods; never what is being processed. */
  *#lessNeeded(now: number): Iterable<Entry> {
    yield* this.#idle();
    for (const entry of fromOldest(this.#byState.leased)) {
      if (entry.notBefore > now) return;
      yield entry;
    }
  }

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
    'The memory store has no room beside the deliveries that are being processed. ' +
      'Raise its maxEntries or maxBytes, or use a durable store.',
  );
}
