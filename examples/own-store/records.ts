import type { Claimable, Json, UnfinishedState } from 'storefront-webhooks';

export interface Entry {
  readonly delivery: Claimable;
  readonly state: 'leased' | 'retry' | 'done' | 'dead';
  readonly owner: string;
  /** The time of the claim, or one more than the fence before. */
  readonly fence: number;
  readonly attempts: number;
  readonly failures: number;
  readonly renewed: boolean;
  readonly steps: Readonly<Record<string, Json>>;
  readonly dueAt: number;
  readonly keepUntil: number;
  readonly error?: string | undefined;
  /** Whether the last lease has expired. */
  readonly lapsed?: boolean;
}

/** The database. If several machines use it, use its clock instead of `Date.now()`. */
export class Records {
  readonly #entries = new Map<string, Entry>();

  async get(key: string): Promise<Entry | undefined> {
    return this.#entries.get(key);
  }

  /**
   * Replaces or deletes an entry that is still as it was `read`. Returns `false` if another process was faster.
   */
  async replace(key: string, read: Entry | undefined, entry: Entry | undefined): Promise<boolean> {
    if (this.#entries.get(key) !== read) return false;
    if (entry) this.#entries.set(key, entry);
    else this.#entries.delete(key);
    return true;
  }

  async all(): Promise<Entry[]> {
    return [...this.#entries.values()];
  }
}

const STALLED_MS = 60_000;
const KEEP_DEAD_MS = 30 * 24 * 60 * 60 * 1000;

export function newEntry(delivery: Claimable): Entry {
  const counts = { fence: 0, attempts: 0, failures: 0, renewed: false, dueAt: 0, keepUntil: 0 };
  return { delivery, state: 'retry', owner: '', steps: {}, ...counts };
}

export function toDead(entry: Entry, now: number): Entry {
  return { ...entry, state: 'dead', keepUntil: Math.max(entry.keepUntil, now + KEEP_DEAD_MS) };
}

/** Returns the unfinished state of an entry, if it is unfinished. */
export function stateOf(
  { state, attempts, failures, dueAt }: Entry,
  now: number,
): UnfinishedState | undefined {
  if (state === 'done' || state === 'dead') return state === 'dead' ? 'dead' : undefined;
  if (dueAt < now - STALLED_MS) return 'stalled';
  const hasLapsed = state === 'leased' && dueAt < now;
  return failures > 0 || attempts > 1 || hasLapsed ? 'failing' : undefined;
}
