import { WebhookError } from '../errors/errors.js';
import { MAX_TIMER_MS } from '../errors/option-checks.js';
import type { Dispatched } from '../request/outcome.js';
import { LateWork } from '../runtime/late-work.js';
import { keepTrying, pause, withRetry, withTimeout } from '../runtime/timing.js';
import type { Claim, Claimable, IdempotencyStore, LeaseTerms } from '../stores/store.js';
import { Lease, type Timing, type Work } from './lease.js';
import type { Load } from './load.js';
import { Purger } from './purge.js';
import { type Settled, toDispatched } from './settled.js';

/** After how many interrupted attempts a delivery is dead, if the store can park it. */
const MAX_CRASHES = 5;
/** How long further responses wait for work past its time limit, which may never end. */
const LATE_MS = 30_000;

/** The terms on which work is done once. */
export interface OnceTerms {
  /** How long the store remembers the key; `Infinity` means forever. */
  readonly keepMs: number;
  /** No retry follows this attempt. If it fails, the delivery is dead, if the store can park it. */
  readonly lastAttempt?: boolean | undefined;
  /** Whether the sender has disconnected. If so, a claim that is still waiting is given up. */
  readonly isGone?: (() => boolean) | undefined;
  /** The record is the only work: if the store does not accept it, nothing has been done. */
  readonly isOnlyRecord?: boolean;
  /** A single transaction of the store does all of the work. */
  readonly isTransaction?: boolean | undefined;
  /** If the store does not accept the record, or that of an effect, a retry would repeat no plain handler. */
  readonly retryUnrecorded?: boolean | undefined;
  /** Called with the reason if the outcome comes neither from the work nor from an earlier claim. */
  readonly onError: (error: WebhookError, attempt?: number) => void;
}

/** Does work once per key, with any store. */
export class Idempotency {
  readonly #store: IdempotencyStore;
  readonly #timing: Timing;
  readonly #load: Load;
  readonly #onError: (error: unknown, subject: Claimable) => void;
  /** Records that the store has not accepted yet, purges, and for a while what is overdue. */
  readonly #late = new LateWork();
  /** Work past its time limit. */
  readonly #overdue = new LateWork();
  readonly #purger: Purger;
  #name: string | undefined;
  #claims = 0;
  #closing = false;
  #closed = false;

  /** @param onError - Called with what could not be recorded or purged, if that does not change the answer. */
  constructor(
    store: IdempotencyStore,
    timing: Timing,
    load: Load,
    onError: (error: unknown, subject?: Claimable) => void,
  ) {
    this.#store = store;
    this.#timing = timing;
    this.#load = load;
    this.#onError = onError;
    this.#purger = new Purger(store, onError);
  }

  /**
   * Claims a key, does the work under the lease, and settles the claim by the result of the work. Never throws.
   *
   * @param work - Must not reject.
   */
  async doOnce(
    subject: Claimable,
    terms: OnceTerms,
    work: (lease: Lease) => Promise<Work>,
  ): Promise<Dispatched> {
    const lease = await this.#claim(subject, terms);
    if (lease.outcome !== undefined) return lease;
    const working = work(lease);
    let ended: Settled = await lease.until(working);
    const isEarly = ended.state === 'timeout' || ended.state === 'lost';
    if (isEarly) this.#settleLate(lease, subject, working, terms);
    else ended = await this.#settle(lease, subject, ended, terms);
    if (ended.state === 'timeout' || ended.state === 'lost')
      terms.onError(lease.endError(ended.state), lease.attempt);
    const purging = this.#closing ? undefined : this.#purger.ifDue();
    if (purging) this.#late.add(purging);
    return toDispatched(ended, lease);
  }

  /** How many ends of work the store has refused to record, and still has to. */
  unrecorded = 0;

  /** Settles when all late work has ended and is recorded, or takes too long; `undefined` if no work is late. */
  get recording(): Promise<unknown> | undefined {
    // Work that ends late may begin to record its result.
    return this.#late.ended?.then(() => this.#late.ended);
  }

  /** Whether {@link close} has been called. */
  get isClosing(): boolean {
    return this.#closing;
  }

  /**
   * Stops claiming, waits at most `timeoutMs` until nothing is running any more, and returns whether that is so.
   *
   * @param running - The other work to wait for.
   */
  async close(
    timeoutMs: number,
    running: () => readonly Promise<unknown>[] = () => [],
  ): Promise<boolean> {
    this.#closing = true;
    const idle = async () => {
      for (;;) {
        const all = [this.#late.ended, this.#overdue.ended, ...running()].filter(Boolean);
        if (all.length === 0) return true;
        await Promise.allSettled(all);
      }
    };
    // Another process takes over longer work after its lease has expired.
    const ended = withTimeout(idle(), '', Math.min(timeoutMs, MAX_TIMER_MS));
    const isIdle = await ended.catch(() => false);
    this.#closed = true;
    return isIdle;
  }

  /** Only a durable store can park a delivery. In any other store, a dead delivery would be lost. */
  #parks({ body }: Claimable): boolean {
    return this.#store.durable && body !== undefined;
  }

  /** Step 4: claims a key. If it is busy, waits and retries for a while, because most work ends soon. */
  async #claim(
    subject: Claimable,
    { keepMs, isGone, onError, isTransaction }: OnceTerms,
  ): Promise<Lease | Dispatched> {
    const { key } = subject;
    const { leaseMs } = this.#timingOf(isTransaction);
    const maxCrashes = this.#parks(subject) ? MAX_CRASHES : Number.POSITIVE_INFINITY;
    const owner = this.#nextOwner();
    const terms = { owner, leaseMs, keepMs, maxCrashes, isGone, isTransaction };
    const maxPauseMs = isTransaction ? 100 : 250;
    if (this.#closing) return { outcome: 'unavailable', ran: [], key };
    try {
      // Retries as the same owner: if the answer to a claim was lost, the delivery need not wait for a lease to
      // expire.
      let claimed = await withRetry(() => this.#ask(subject, terms));
      const giveUpAt = performance.now() + this.#timing.waitMs;
      for (
        let pauseMs = 20;
        claimed.outcome === 'busy';
        pauseMs = Math.min(2 * pauseMs, maxPauseMs)
      ) {
        if (this.#closing || performance.now() + pauseMs > giveUpAt) break;
        await pause(pauseMs);
        claimed = await this.#ask(subject, terms);
      }
      if (claimed.outcome !== undefined || !this.#closing) return claimed;
      await this.#settle(claimed, subject, { state: 'busy', ran: [] }, { keepMs });
    } catch (cause) {
      const message = 'The store could not grant the claim.';
      onError(new WebhookError('store_unavailable', message, { cause }));
    }
    return { outcome: 'unavailable', ran: [], key };
  }

  async #ask(subject: Claimable, terms: LeaseTerms): Promise<Lease | Dispatched> {
    const { key } = subject;
    const waiting = this.#load.asked();
    const { since: askedAt } = waiting;
    let claim: Claim;
    try {
      claim = await this.#store.claim(subject, terms);
    } finally {
      this.#load.answered(waiting);
    }
    switch (claim.state) {
      case 'busy':
        return { outcome: 'busy', ran: [], retryAfterMs: claim.retryAfterMs, key };
      case 'done':
        return { outcome: 'duplicate', ran: [], key };
      case 'dead':
        return { outcome: 'parked', ran: [], key };
      case 'gone':
        return { outcome: 'unavailable', ran: [], key };
    }
    // If this process was suspended meanwhile, another one may have taken the lease over by now.
    const timing = this.#timingOf(terms.isTransaction);
    if (performance.now() - askedAt > timing.leaseMs - timing.renewMs)
      return { outcome: 'busy', ran: [], retryAfterMs: 0, key };
    // The first attempt is counted in any case, and a delivery that cannot be parked may crash without end.
    const recordsBeginning = claim.attempt > 1 && this.#parks(subject);
    return new Lease(this.#store, key, claim, timing, { askedAt, recordsBeginning });
  }

  /**
   * A transaction holds the delivery itself, and its database ends it after the time limit: so its lease is longer
   * than that, and never renewed.
   */
  #timingOf(isTransaction = false): Timing {
    if (!isTransaction) return this.#timing;
    const { timeoutMs, leaseMs } = this.#timing;
    return { ...this.#timing, leaseMs: timeoutMs + leaseMs, renewMs: timeoutMs };
  }

  /** Creates the name at the first claim: on Workers, there is no randomness before the first request. */
  #nextOwner(): string {
    this.#name ??= crypto.randomUUID();
    this.#claims += 1;
    return `${this.#name}-${this.#claims}`;
  }

  /** Step 6: records the result of the work in the store, and returns the result that counts. */
  async #settle(
    lease: Lease,
    subject: Claimable,
    work: Work,
    { keepMs, lastAttempt = false, isOnlyRecord, retryUnrecorded }: Omit<OnceTerms, 'onError'>,
  ): Promise<Settled> {
    lease.stop();
    const permanent = lastAttempt && this.#parks(subject);
    const settle = () => lease.settle(work, { keepMs, permanent });
    try {
      const settled = await withRetry(settle);
      return lease.isEffectUnrecorded ? { ...settled, retryUnrecorded } : settled;
    } catch (cause) {
      if (isOnlyRecord) return { state: 'unavailable', ran: [] };
      this.#late.add(this.#settleInTheEnd(lease, subject, settle, cause));
      // The work is done whether or not it is recorded. A retry by the provider would only repeat it.
      return { ...work, retryUnrecorded };
    }
  }

  /** Keeps trying to settle a claim. The fence makes this safe, even if another process has taken over. */
  async #settleInTheEnd(
    lease: Lease,
    subject: Claimable,
    settle: () => Promise<Work>,
    firstCause: unknown,
  ): Promise<void> {
    let cause = firstCause;
    let isReported = false;
    const tell = () => {
      if (isReported) return;
      isReported = true;
      const message = 'The store could not record how the delivery ended.';
      this.#onError(new WebhookError('outcome_unrecorded', message, { cause }), subject);
    };
    // After the lease has expired, another process may repeat the work.
    const tellOnceLapsed = () => lease.leftMs === 0 && tell();
    tellOnceLapsed();
    this.unrecorded += 1;
    const settled = await keepTrying(settle, {
      isOver: () => this.#closed,
      onFailed: (error) => {
        cause = error;
        tellOnceLapsed();
      },
    });
    this.unrecorded -= 1;
    if (!settled || settled.state === 'lost') tell();
  }

  /** Settles work that ends late. Its result still counts, unless another process has taken over by then. */
  #settleLate(lease: Lease, subject: Claimable, working: Promise<Work>, terms: OnceTerms): void {
    const settling = working
      .then<unknown>((work) => {
        const isFinal = work.state === 'done' || (work.state === 'failed' && terms.lastAttempt);
        // The time limit was already reported. If a retry follows, release the lease for it.
        return isFinal ? this.#settle(lease, subject, work, terms) : lease.lapse();
      })
      .catch((error) => {
        this.#onError(error, subject);
        // A step that is done, or goods that are made, would otherwise be forgotten.
        return keepTrying(() => lease.lapse(), { isOver: () => this.#closed });
      });
    this.#overdue.add(settling);
    this.#late.add(withTimeout(settling, '', LATE_MS).catch(() => {}));
  }
}
