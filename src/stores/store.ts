import type { SealedDelivery } from '../request/delivery.js';
import type { Json } from '../schemas/values.js';
import type { TransactionHandler } from './transactions.js';

/** A delivery is stalled if it is overdue by this much: by then, the provider should have retried it. */
export const STALLED_MS = 60_000;

/** How long a store keeps a dead delivery at least, for the operator to inspect. */
export const KEEP_DEAD_MS = 30 * 24 * 60 * 60 * 1000;

/** The limit up to which a store counts unfinished deliveries: more would be too many in any case. */
export const COUNT_LIMIT = 10_000;

/** How many characters of an error a store keeps. */
export const ERROR_CHARACTERS = 2_000;

/** The errors of dead deliveries whose handlers did not fail. */
export const INTERRUPTED = 'it was interrupted too often';
export const ABANDONED = 'abandoned: its sender gave up before it was done';
/** The same for a delivery that was interrupted: the error keeps that on record. */
export const ABANDONED_INTERRUPTED =
  'abandoned: its sender gave up after an interrupted attempt, so it may be done';

/**
 * A delivery to claim, or the effect of a handler, which has no body. Its `id` and `event` have 200 characters at
 * most, so a store can keep them as long as the key. The store keeps the `proof` with the body, returns it with
 * the body, and deletes both once the delivery is done.
 */
export type Claimable = Omit<SealedDelivery, 'body'> & { readonly body: Uint8Array | undefined };

/** The terms of a lease. */
export interface LeaseTerms {
  /** A random text, one per attempt: a repeated claim after an ambiguous time-out gets the same lease. */
  readonly owner: string;
  readonly leaseMs: number;
  /** How long the store remembers the key; `Infinity` for forever. */
  readonly keepMs: number;
  /** How many leases may expire before the delivery is dead; `Infinity` for a store that cannot park it. */
  readonly maxCrashes: number;
  /**
   * Returns whether the sender has hung up. A store whose claims wait for their turn may call it before the claim,
   * and answer `gone`. Absent if the receiver cannot know.
   */
  readonly isGone?: (() => boolean) | undefined;
  /**
   * The whole delivery will be processed by {@link StoreTransactions}. The store need not wait until this
   * claim is on the disk, and another process may take it over as soon as no transaction holds it.
   */
  readonly isTransaction?: boolean | undefined;
}

/** The terms of a transaction that runs a handler. */
export interface TransactTerms {
  /** The lease of the delivery. */
  readonly key: string;
  readonly fence: number;
  /** The key of the handler's effect, which the transaction marks as done; `undefined` without `oncePer`. */
  readonly effect: string | undefined;
  /** The record of the transaction: that the delivery is done, or, if other handlers are left, a step. */
  readonly record: { readonly keepMs: number } | { readonly step: string };
  /** The longest that the transaction may take, in milliseconds. The database ends it then. */
  readonly timeoutMs: number;
  /** Fires when the lease ends: roll back at once. */
  readonly signal: AbortSignal;
  /**
   * Records that the attempt has begun, and returns whether the lease is still held. Called before the transaction:
   * as late as possible, because an attempt that only waited for a connection has not begun.
   *
   * @param needsLease - Whether the lease is renewed from then on, because the transaction does not hold the delivery
   *   yet. Once it does, call this again.
   */
  readonly begin: (needsLease?: boolean) => Promise<boolean>;
}

/**
 * How a transaction ended. `done`: committed. `known`: committed, and the effect had been done before, so nothing
 * ran. Otherwise rolled back: `lost`: another process has the lease. `busy`: the effect is being done elsewhere; a
 * store waits for it for 3 s at most. `unavailable`: the transaction could not begin, or the answer to COMMIT was lost.
 */
export type Transacted =
  | { readonly state: 'done' | 'known' | 'lost' | 'busy' }
  | { readonly state: 'unavailable'; readonly cause: unknown };

/** How the owner of a claim begins in the tables of a store, if a transaction processes the delivery. */
export const IN_TRANSACTION = 'tx-';
/** How long after such a claim its transaction may begin, before another process may take the delivery over. */
export const GAP_MS = 150;
/** A claim that is further in the future was made before the store's clock was set back. */
export const AHEAD_MS = 1_000;

/** The answer of a store to a claim. */
export type Claim =
  | {
      readonly state: 'acquired';
      /** Grows with every claim of this key. Every later verb of the attempt has to pass it. */
      readonly fence: number;
      /** 1 for the first attempt. */
      readonly attempt: number;
      /** The outputs that {@link IdempotencyStore.completeStep} recorded in earlier attempts, by step name. */
      readonly steps: Readonly<Record<string, Json>>;
    }
  | { readonly state: 'busy'; readonly retryAfterMs: number }
  /** `gone`: the delivery was not claimed, because its sender has hung up. */
  | { readonly state: 'done' | 'dead' | 'gone' };

/** How an attempt failed. */
export interface FailTerms {
  /** `true`: the delivery is dead, and is not retried. `false`: its retry is due at once. */
  readonly permanent: boolean;
  /** One line for the operator. The store keeps the first {@link ERROR_CHARACTERS} characters. */
  readonly error: string;
}

/**
 * The state of an unfinished delivery. A delivery is in one of them at most.
 *
 * `dead`: not tried any more. `stalled`: overdue for more than a minute, so the provider seems to have given up.
 * `failing`: not stalled, and an earlier attempt failed or its lease expired.
 */
export type UnfinishedState = 'dead' | 'stalled' | 'failing';

/** An unfinished delivery, as {@link IdempotencyStore.list} returns it. */
export interface StoredDelivery extends Omit<SealedDelivery, 'receivedAt'> {
  readonly receivedAt: Date;
  readonly state: UnfinishedState;
  /** How often the delivery was tried since it was received, or since it was redriven. */
  readonly attempts: number;
  /** The error of the last failure. */
  readonly error: string | undefined;
  /**
   * Whether the last attempt began, and neither failed nor was recorded as done: its process died, or lost the
   * connection to the store. The delivery may have been processed and answered 200.
   */
  readonly interrupted: boolean;
  /** The `id` in the body, or in the body's `data`; 200 characters at most. */
  readonly orderId: string | undefined;
  /** The `email` next to that `id`; 200 characters at most. */
  readonly email: string | undefined;
  /** When the delivery was last claimed; `undefined` if it was not tried since it was received or redriven. */
  readonly lastTriedAt: Date | undefined;
  /** When the retry is due, or when the lease expires or expired; `undefined` for a dead delivery. */
  readonly dueAt: Date | undefined;
}

/** The filter of {@link IdempotencyStore.count}. */
export interface CountFilter {
  readonly state: UnfinishedState;
  /** Only deliveries of this scope. Default: all scopes in the store. */
  readonly scope?: string | undefined;
}

/** The filter of {@link IdempotencyStore.list}. */
export interface ListFilter extends CountFilter {
  /** The last key of the previous page. */
  readonly after?: string | undefined;
  /** The most deliveries to return: see {@link IdempotencyStore}. Default: 100. */
  readonly limit?: number | undefined;
}

/** Runs handlers with the option `transaction`, each in the transaction that records it. */
export interface StoreTransactions<Tx> {
  /** Checks a handler when it is registered. Throws a `UsageError`, `handler_invalid`. */
  check(handler: TransactionHandler): void;
  /** Called for `once()` in a handler, and throws: a rollback would forget the step. */
  refuseStep(): never;
  /**
   * Runs a handler. Rejects with the error of the handler, or of the database: then everything is rolled back. If it
   * rejects before it has called `work`, the receiver takes that for `unavailable`.
   *
   * @param work - Gets the driver's client of the transaction. May run again after a deadlock.
   */
  run(terms: TransactTerms, work: (tx: Tx) => unknown): Promise<Transacted>;
}

/**
 * Keeps the state of deliveries. Every verb is atomic.
 *
 *     (none) ──claim──▶ leased ──complete──▶ done
 *                       │  ▲ │
 *        fail, release  │  │ └─fail for good, expire too often─▶ dead
 *                       ▼  │ claim, also after a lease expired   │
 *                      retry ◀──────────────redrive───────────────┘
 *
 * The store's clock decides. A verb with a fence that is not the latest changes nothing and reports that.
 *
 * - A key is 64 hexadecimal digits in lower case: two spellings of a key would be two deliveries. For any other
 *   key, every verb of this package's stores rejects with a `UsageError`, `key_invalid`.
 * - A limit is rounded down. A limit below 0, or one that is not a number, is 0. `Infinity` means all.
 * - The store keeps the first {@link ERROR_CHARACTERS} characters of an error.
 * - A done delivery is remembered until its `keepMs` is over. The next claim of its key after that is new, whether
 *   or not the delivery was purged. A dead delivery stays dead until it is purged: 30 days after it died, or when
 *   its `keepMs` is over if that is later.
 * - A fence is an integer of at least the time of the claim in milliseconds since 1970. So the fence keeps growing
 *   even after a key was forgotten, and shows when the delivery was last tried.
 * - A step may have any name, even `__proto__`.
 */
export interface IdempotencyStore<Tx = unknown> {
  /** Whether the stored data survives the process. */
  readonly durable: boolean;
  /** A short description for the operator, such as `SQLite (webhooks.db)`: no folder, no host, no password. */
  readonly description?: string | undefined;
  /** The largest body that the store holds, in bytes: the `limit` of a receiver must not be larger. Default: any. */
  readonly maxBodyBytes?: number | undefined;
  /** Advice to the operator if the store does not answer for a while, in one or two sentences. */
  readonly whenSilent?: string | undefined;
  /**
   * Takes the lease if the key is new or forgotten, its retry is due, or its lease has expired. An expired lease
   * counts as a crash if it was renewed, or if it is the first to expire since a failure. Otherwise its attempt
   * never began, and does not count. The longest `keepMs` of all claims and the completion applies.
   */
  claim(delivery: Claimable, lease: LeaseTerms): Promise<Claim>;
  /**
   * Extends the lease from now, and records that the attempt has begun: the receiver renews the lease of every
   * attempt but the first before it runs a handler. `false`: the lease is lost.
   */
  renew(key: string, fence: number, leaseMs: number): Promise<boolean>;
  /** Records a completed step, which may be a whole handler, with its output. `false`: the lease is lost. */
  completeStep(key: string, fence: number, step: string, output: Json): Promise<boolean>;
  /** Marks a leased delivery as done. A repeated call also returns `true`. `false`: the lease is lost. */
  complete(key: string, fence: number, keepMs: number): Promise<boolean>;
  /** Marks a leased delivery as retry or dead, and counts a failure. A repeated call returns the same. */
  fail(key: string, fence: number, terms: FailTerms): Promise<'retry' | 'dead' | 'lost'>;
  /** Gives the lease back as if it was never taken. A repeated call does no harm. `false`: the lease is lost. */
  release(key: string, fence: number): Promise<boolean>;
  /**
   * Makes the retry of a dead or stalled delivery due at once, as if it had never been tried. Completed steps stay
   * completed. `false`: the delivery is neither dead nor stalled.
   */
  redrive(key: string): Promise<boolean>;
  /**
   * Deletes up to `limit` done or dead keys whose time is over. A durable store marks stalled deliveries whose
   * time is over as dead, "abandoned", and still as interrupted if they were; it leaves effects alone, which have
   * no body. Returns the number of both.
   * The receiver calls this verb. A store that purges by itself returns 0.
   */
  purge(limit: number): Promise<number>;
  /**
   * Lists the deliveries in one {@link UnfinishedState}, for the operator: in the order of their keys, beginning
   * after the key `after`. Effects and deliveries in their first attempt are not listed.
   */
  list(filter: ListFilter): Promise<readonly StoredDelivery[]>;
  /** Returns how many deliveries {@link list} has without a limit, up to {@link COUNT_LIMIT}. For a gauge. */
  count(filter: CountFilter): Promise<number>;
  /**
   * Returns whether a key is done and still remembered. Changes nothing. `recover` and `reconcile` ask for hundreds of
   * keys at once. If a store lacks this verb, `reconcile` does not see deliveries that were done but not answered, such
   * as those that recovery has processed, and `confirm` is also called for an order whose effects another delivery has
   * done.
   */
  isDone?(key: string): Promise<boolean>;
  /** Runs handlers in transactions of the store. Absent if the store cannot. */
  readonly transactions?: StoreTransactions<Tx> | undefined;
}
