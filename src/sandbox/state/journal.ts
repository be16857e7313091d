/** A record that came to be, was replaced or, with a `value` of `undefined`, deleted. */
export interface Change {
  readonly account: string;
  readonly kind: string;
  /** The place of the record among all of its kind, which it keeps. */
  readonly place: number;
  readonly value: object | undefined;
}

/** A record as it is kept. */
export interface KeptRecord {
  readonly kind: string;
  readonly place: number;
  readonly value: unknown;
}

/** Keeps every change on disk, so that a sandbox that was killed comes back with all of them. */
export interface Journal {
  /** The keys of the accounts that something is kept of. */
  accounts(): readonly string[];
  /** What is kept of an account, the oldest of each kind first. */
  load(account: string): readonly KeptRecord[];
  /** Keeps all of the changes, or none. */
  write(changes: readonly Change[]): void;
  close(): void;
}
