import type { SealedDelivery } from '../request/delivery.js';
import type { Json } from '../schemas/json.js';

/** Stalled: past due by so much, which its sender would have come back for. */
export const STALLED_MS = 60_000;

/** How long what is dead is kept at least, for a person to look at. */
export const KEEP_DEAD_MS = 30 * 24 * 60 * 60 * 1000;

/** How far deliveries that wait for a person are counted: beyond it, there are too many in any case. */
export const COUNT_LIMIT = 10_000;

/** How much is kept of an error. */
export const ERROR_CHARACTERS = 2_000;

/** What a dead delivery says of itself where no handler has failed. */
export const INTERRUPTED = 'it was interrupted too often';
export const ABANDONED = 'abandoned: its sender gave up before it was done';

/**
 * What is claimed: a delivery, or the effect of one handler, which has no body to keep. Its `id` and `event`
 * are of 200 characters at most, so that a store may keep them as long as the key. Its `proof` is kept
 * with the body, given back with it, and forgotten with it once the delivery is done.
 */
export type Claimable = Omit<SealedDelivery, 'body'> & { readonly body: Uint8Array | undefined };

/** The terms of a lease. */
export interface LeaseTerms {
  /** Random, one per attempt: asking again after an ambiguous time-out gets the same lease. */
  readonly owner: string;
  readonly leaseMs: number;
  /** How long the key is remembered; `Infinity` for ever. */
  readonly keepMs: number;
  /** How many leases may lapse before the delivery is dead; `Infinity` for a store that cannot park it. */
  readonly maxCrashes: number;
}

/** What a store gives to who claims a key. */
export type Claim =
  | {
      readonly state: 'acquired';
      /** Grows with every claim of this key; every later verb has to name it. */
      readonly fence: number;
      /** 1 for the first. */
      readonly attempt: number;
      /** What {@link IdempotencyStore.completeStep} recorded in earlier attempts, by the names of the steps. */
      readonly steps: Readonly<Record<string, Json>>;
    }
  | { readonly state: 'busy'; readonly retryAfterMs: number }
  | { readonly state: 'done' | 'dead' };

/** How an attempt has failed. */
export interface FailTerms {
  /** Nobody tries it again: it is dead. Otherwise its retry is due at once. */
  readonly permanent: boolean;
  /** One line for a person, of which {@link ERROR_CHARACTERS} are kept. */
  readonly error: string;
}

/**
 * In which way a delivery has not come to its end; never in two of these at once.
 *
 * `dead`: it is tried no more. `stalled`: past due for more than a minute, given up by its sender.
 * `failing`: not stalled, and tried before without success: it has failed, or its lease has lapsed.
 */
export type UnfinishedState = 'dead' | 'stalled' | 'failing';

/** A delivery that has not come to its end, as {@link IdempotencyStore.list} gives it. */
export interface StoredDelivery extends Omit<SealedDelivery, 'receivedAt'> {
  readonly receivedAt: Date;
  readonly state: UnfinishedState;
  /** How often it was tried since it came, or since it was redriven. */
  readonly attempts: number;
  /** Why it failed the last time. */
  readonly error: string | undefined;
  /**
   * Its last attempt was begun, and neither failed nor was recorded as done: its process died, or could
   * not reach the store any more. So it may have been done, and answered 200.
   */
  readonly interrupted: boolean;
  /** The `id` in its body, or in the `data` of it; 200 characters at most. */
  readonly orderId: string | undefined;
  /** The `email` beside it. */
  readonly email: string | undefined;
  /** When it was claimed last; `undefined` where it was not tried, or not since it was redriven. */
  readonly lastTriedAt: Date | undefined;
  /** When its retry is due, or its lease lapses or has lapsed; `undefined` where it is dead. */
  readonly dueAt: Date | undefined;
}

/** Which deliveries {@link IdempotencyStore.count} counts. */
export interface CountFilter {
  readonly state: UnfinishedState;
  /** Those of one scope. Default: those of all that share the store. */
  readonly scope?: string | undefined;
}

/** Which deliveries {@link IdempotencyStore.list} gives. */
export interface ListFilter extends CountFilter {
  /** The last key of the page before. */
  readonly after?: string | undefined;
  /** How many at most: see {@link IdempotencyStore}. Default: 100. */
  readonly limit?: number | undefined;
}

/**
 * The atomic verbs over the state of a delivery.
 *
 *     (none) ──claim──▶ leased ──complete──▶ done
 *                       │  ▲ │
 *        fail, release  │  │ └─fail for good, lapse too often──▶ dead
 *                       ▼  │ claim, also once a lease has lapsed   │
 *                      retry ◀──────────────redrive───────────────┘
 *
 * Time is the store's. A verb whose fence is not the latest changes nothing and says so.
 *
 * - A key is 64 hexadecimal digits in lower case: two spellings of it would be two deliveries. Given anything
 *   else, a store of this package rejects with a `UsageError`, `key_invalid`, whichever the verb.
 * - A limit is rounded down; below 0, and where it is no number, it is 0; `Infinity` is all that there is.
 * - Of an error, the first {@link ERROR_CHARACTERS} characters are kept.
 * - What is done is remembered until its time has come, and is new to the next claim of its key from then
 *   on, whether or not it has been purged. What is dead stays dead until it is purged, which is 30 days after
 *   it died, or when its `keepMs` is over if that is later.
 * - A fence is a whole number that is at least the time of the claim in milliseconds since 1970, so that it goes
 *   on growing where a key was forgotten, and says when the delivery was tried last.
 * - A step may have any name, also `__proto__`.
 */
export interface IdempotencyStore {
  /** Whether what it holds survives the process. */
  readonly durable: boolean;
  /** What it is, in a few words for a person, such as `SQLite (webhooks.db)`: no folder, no host, no password. */
  readonly description?: string | undefined;
  /** What a person is to do where it answers nothing for a while, in one sentence or two. */
  readonly whenSilent?: string | undefined;
  /**
   * Takes the lease if the key is new or forgotten, due for retry, or its lease has lapsed. That counts as a crash where
   * the lease was renewed, or is the first to lapse since a failure; else it was never begun, and counts as
   * no attempt. The longest `keepMs` that it is claimed or completed with is the one that counts.
   */
  claim(delivery: Claimable, lease: LeaseTerms): Promise<Claim>;
  /**
   * Prolongs the lease from now, and says that what was claimed has begun: the receiver renews the lease of
   * every attempt but the first before it runs a handler. `false`: the lease is lost.
   */
  renew(key: string, fence: number, leaseMs: number): Promise<boolean>;
  /** Records a completed step, which may be a whole handler, with its output. `false`: the lease is lost. */
  completeStep(key: string, fence: number, step: string, output: Json): Promise<boolean>;
  /** Leased or already done becomes done. `false`: the lease is lost. */
  complete(key: string, fence: number, keepMs: number): Promise<boolean>;
  /** Leased becomes retry or dead, and counts a failure. Asked again under the same fence, it says the same. */
  fail(key: string, fence: number, terms: FailTerms): Promise<'retry' | 'dead' | 'lost'>;
  /** Gives the lease back as if it had never been taken, and may be asked again. `false`: the lease is lost. */
  release(key: string, fence: number): Promise<boolean>;
  /**
   * Dead or stalled becomes retry, due at once, as if it had never been tried; what its handlers have
   * done stays done. `false`: it is neither.
   */
  redrive(key: string): Promise<boolean>;
  /**
   * Forgets up to `limit` keys that are done or dead and whose time has come. A durable store turns those
   * that are stalled by then into dead, "abandoned"; an effect, which has no body, it leaves alone. Gives the
   * number of both. The receiver calls it. A
   * store that does this by itself gives 0.
   */
  purge(limit: number): Promise<number>;
  /**
   * Deliveries for a person to look at, in the order of their keys, from after the key `after`: those in
   * one {@link UnfinishedState}. Effects are not among them, nor is what is processed for the first time.
   */
  list(filter: ListFilter): Promise<readonly StoredDelivery[]>;
  /** How many {@link list} would give without a limit, {@link COUNT_LIMIT} at most. For a gauge. */
  count(filter: CountFilter): Promise<number>;
  /**
   * Whether a key is done, and remembered as such: what a claim of it would say, without one. Changes nothing.
   * Without it, `reconcile` does not see what was done but not answered, such as what recovery has brought back.
   */
  isDone?(key: string): Promise<boolean>;
}
