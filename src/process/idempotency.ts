import { WebhookError } from '../errors.js';
import type { Dispatched } from '../outcome.js';
import type { Claimable, IdempotencyStore, LeaseTerms } from '../stores/store.js';
import { keepTrying, MAX_TIMER_MS, pause, withRetry, withTimeout } from '../timing.js';
import { Lease, type Timing, type Work } from './lease.js';
import { Purging } from './purging.js';

/** How many interrupted attempts make a delivery dead, where the store can park it. */
const MAX_CRASHES = 5;

/** On which terms work is done once. */
export interface OnceTerms {
  /** How long the key is remembered; `Infinity` for ever. */
  readonly keepMs: number;
  /** Nobody tries again what fails now: it is dead, where the store can park it. */
  readonly lastAttempt?: boolean;
  /** Nothing is done but the record of it: where the store does not take that, it is not done. */
  readonly isOnlyRecord?: boolean;
  /** Told why, where the outcome is neither the work's nor that of an earlier claim. */
  readonly onError: (error: WebhookError, attempt?: number) => void;
}

/** Does work once per key, over any store. */
export class Idempotency {
  readonly #store: IdempotencyStore;
  readonly #timing: Timing;
  readonly #onError: (error: unknown, subject: Claimable) => void;
  /** Work after its time limit, and records that the store could not take yet: no sender waits for them. */
  readonly #late = new Set<Promise<unknown>>();
  readonly #purging: Purging;
  #name: string | undefined;
  #claims = 0;
  #closing = false;
  #closed = false;

  /** @param onError - Told what could not be recorded or purged, where the answer stays the same. */
  constructor(
    store: IdempotencyStore,
    timing: Timing,
    onError: (error: unknown, subject?: Claimable) => void,
  ) {
    this.#store = store;
    this.#timing = timing;
    this.#onError = onError;
    this.#purging = new Purging(store, onError);
  }

  /**
   * Claims a key, does the work under the lease, and settles the claim by what the work came to.
   * Never throws.
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
    let ended = await lease.until(working);
    const isEarly = ended.state === 'timeout' || ended.state === 'lost';
    if (isEarly) this.#settleLate(lease, subject, working, terms);
    else ended = await this.#settle(lease, subject, ended, terms);
    if (ended.state === 'timeout' || ended.state === 'lost')
      terms.onError(lease.endError(ended.state), lease.attempt);
    if (!this.#closing) this.#purging.ifDue();
    return toDispatched(ended, lease);
  }

  /** Settles when nothing is running and to be recorded any more that no sender waits for. */
  get recording(): Promise<unknown> | undefined {
    return this.#late.size === 0 ? undefined : Promise.allSettled(this.#late);
  }

  /** Whether {@link close} has been called. */
  get isClosing(): boolean {
    return this.#closing;
  }

  /**
   * Stops claiming, waits until nothing is running any more, at most `timeoutMs`, and says whether that is so.
   *
   * @param running - What else is running.
   */
  async close(
    timeoutMs: number,
    running: () => readonly Promise<unknown>[] = () => [],
  ): Promise<boolean> {
    this.#closing = true;
    const left = () => [...running(), ...this.#late];
    const idle = async () => {
      for (let all = left(); all.length > 0; all = left()) await Promise.allSettled(all);
      await this.#purging.idle;
    };
    // What takes longer is taken over by somebody else, once its lease has lapsed.
    const isIdle = await withTimeout(
      idle(),
      'What is running',
      Math.min(timeoutMs, MAX_TIMER_MS),
    ).then(
      () => true,
      () => false,
    );
    this.#closed = true;
    return isIdle;
  }

  /** Only a durable store can park a delivery for a person to look at: elsewhere, dead would mean lost. */
  #parks({ body }: Claimable): boolean {
    return this.#store.durable && body !== undefined;
  }

  /** Step 4. Asks again for a while, because what is being processed elsewhere is most often soon done. */
  async #claim(subject: Claimable, { keepMs, onError }: OnceTerms): Promise<Lease | Dispatched> {
    const { key } = subject;
    const { leaseMs, waitMs } = this.#timing;
    const maxCrashes = this.#parks(subject) ? MAX_CRASHES : Number.POSITIVE_INFINITY;
    const terms = { owner: this.#nextOwner(), leaseMs, keepMs, maxCrashes };
    if (this.#closing) return { outcome: 'unavailable', ran: [], key };
    try {
      // By the same owner: a claim whose answer was lost must not hold the delivery up for a lease.
      let claimed = await withRetry(() => this.#ask(subject, terms));
      const giveUpAt = performance.now() + waitMs;
      for (let pauseMs = 20; claimed.outcome === 'busy'; pauseMs = Math.min(2 * pauseMs, 250)) {
        if (this.#closing || performance.now() + pauseMs > giveUpAt) break;
        await pause(pauseMs);
        claimed = await this.#ask(subject, terms);
      }
      if (claimed.outcome !== undefined || !this.#closing) return claimed;
      await this.#settle(claimed, subject, { state: 'busy', ran: [] }, { keepMs });
    } catch (cause) {
      const message = 'The store could not take the claim.';
      onError(new WebhookError('store_unavailable', message, { cause }));
    }
    return { outcome: 'unavailable', ran: [], key };
  }

  async #ask(subject: Claimable, terms: LeaseTerms): Promise<Lease | Dispatched> {
    const { key } = subject;
    const askedAt = performance.now();
    const claim = await this.#store.claim(subject, terms);
    switch (claim.state) {
      case 'busy':
        return { outcome: 'busy', ran: [], retryAfterMs: claim.retryAfterMs, key };
      case 'done':
        return { outcome: 'duplicate', ran: [], key };
      case 'dead':
        return { outcome: 'parked', ran: [], key };
    }
    // A process that was frozen meanwhile has been granted what may be another one's by now.
    if (performance.now() - askedAt > this.#timing.leaseMs - this.#timing.renewMs)
      return { outcome: 'busy', ran: [], retryAfterMs: 0, key };
    // The first attempt counts in any case, and what cannot be parked may crash as often as it likes.
    const tellsBeginning = claim.attempt > 1 && this.#parks(subject);
    return new Lease(this.#store, key, claim, this.#timing, { askedAt, tellsBeginning });
  }

  /** Made at the first claim: Workers have no randomness before there is a request. */
  #nextOwner(): string {
    this.#name ??= crypto.randomUUID();
    this.#claims += 1;
    return `${this.#name}-${this.#claims}`;
  }

  /** Step 6: has the store record what the work came to, and says what counts. */
  async #settle(
    lease: Lease,
    subject: Claimable,
    work: Work,
    { keepMs, lastAttempt = false, isOnlyRecord = false }: Omit<OnceTerms, 'onError'>,
  ): Promise<Work> {
    lease.stop();
    const permanent = lastAttempt && this.#parks(subject);
    const settle = () => lease.settle(work, { keepMs, permanent });
    try {
      return await withRetry(settle);
    } catch (cause) {
      if (isOnlyRecord) return { state: 'unavailable', ran: [] };
      this.#goOn(this.#settleInTheEnd(lease, subject, settle, cause));
      // What is done is done: to have it sent again would only do it twice.
      return work;
    }
  }

  /** The fence sees to it that this is harmless, also where somebody else has taken over. */
  async #settleInTheEnd(
    lease: Lease,
    subject: Claimable,
    settle: () => Promise<Work>,
    firstCause: unknown,
  ): Promise<void> {
    let cause = firstCause;
    let isTold = false;
    const tell = () => {
      if (isTold) return;
      isTold = true;
      const message = 'The store could not record how the delivery ended.';
      this.#onError(new WebhookError('outcome_unrecorded', message, { cause }), subject);
    };
    // From then on somebody else may do it again.
    const tellOnceLapsed = () => lease.leftMs === 0 && tell();
    tellOnceLapsed();
    const settled = await keepTrying(settle, {
      isOver: () => this.#closed,
      onFailed: (error) => {
        cause = error;
        tellOnceLapsed();
      },
    });
    if (!settled || settled.state === 'lost') tell();
  }

  /** Work that ends late still counts, unless somebody else has taken over by then. */
  #settleLate(lease: Lease, subject: Claimable, working: Promise<Work>, terms: OnceTerms): void {
    this.#goOn(
      working
        .then<unknown>((work) =>
          // The time limit was its failure. Now that it has stopped, a retry need not wait for the lease.
          work.state === 'done' ? this.#settle(lease, subject, work, terms) : lease.lapse(),
        )
        .catch((error) => this.#onError(error, subject)),
    );
  }

  /** Has {@link close} wait for what nobody else waits for. It must not reject. */
  #goOn(late: Promise<unknown>): void {
    this.#late.add(late);
    void late.finally(() => this.#late.delete(late));
  }
}

function toDispatched({ state, ran }: Work, { attempt, key }: Lease): Dispatched {
  switch (state) {
    case 'done':
    case 'kept':
      // Nothing ran where every effect had been done for another delivery.
      return { outcome: ran.length > 0 ? 'handled' : 'duplicate', ran, attempt, key };
    case 'dead':
      return { outcome: 'parked', ran, attempt, key };
    case 'timeout':
      return { outcome: 'failed', ran, attempt, key };
    case 'lost':
      return { outcome: 'busy', ran, attempt, key };
    default:
      return { outcome: state, ran, attempt, key };
  }
}
