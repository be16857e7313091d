import { WebhookError } from '../errors.js';
import type { Dispatched } from '../outcome.js';
import type { Claim, Claimable, IdempotencyStore, LeaseTerms } from '../stores/store.js';
import { keepTrying, MAX_TIMER_MS, withRetry, withTimeout } from '../timing.js';
import { Lease, type LeaseEnd, type Timing } from './lease.js';
import { Purging } from './purging.js';

/** How many interrupted attempts make a delivery dead, where the store can park it. */
const MAX_CRASHES = 5;

/** What claiming and settling may take beside the handlers. */
const GRACE_MS = 30_000;

/** What the work under a lease came to. */
export type Work =
  | { readonly state: 'done' }
  | { readonly state: 'failed'; readonly error: string }
  /** Part of it is being done elsewhere. */
  | { readonly state: 'busy' }
  /** Part of it could not even be claimed. */
  | { readonly state: 'unavailable' };

/** What became of the wish to do some work once. */
export type Held<Result extends Work> =
  | {
      readonly state: 'worked';
      readonly attempt: number;
      readonly result: Result;
      /** It failed for the last time, and the store keeps it for a person. */
      readonly isDead: boolean;
    }
  /** The lease ended before the work did, which is not waited for. */
  | { readonly state: LeaseEnd; readonly attempt: number; readonly error: WebhookError }
  | { readonly state: 'busy'; readonly retryAfterMs: number }
  | { readonly state: 'done' | 'dead' | 'closing' }
  | { readonly state: 'unavailable'; readonly error: WebhookError };

export interface HoldTerms {
  /** How long the key is remembered; `Infinity` for ever. */
  readonly keepMs: number;
  /** Nobody tries again what fails now: it is dead, where the store can park it. */
  readonly lastAttempt?: boolean;
}

/** A claim, and when it was asked for. */
type Granted =
  | Exclude<Claim, { state: 'acquired' }>
  | (Extract<Claim, { state: 'acquired' }> & { readonly askedAt: number });

/** Does work once per key, over any store. */
export class Idempotency {
  readonly #store: IdempotencyStore;
  readonly #timing: Timing;
  readonly #onError: (error: unknown, subject: Claimable) => void;
  readonly #running = new Map<string, { started: Promise<Dispatched>; at: number }>();
  /** Work after its time limit, and records that the store could not take yet: no sender waits for them. */
  readonly #late = new Set<Promise<unknown>>();
  readonly #purging: Purging;
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
  async hold<Result extends Work>(
    subject: Claimable,
    { keepMs, lastAttempt = false }: HoldTerms,
    work: (lease: Lease) => Promise<Result>,
  ): Promise<Held<Result>> {
    if (this.#closing) return { state: 'closing' };
    let claim: Granted;
    try {
      const terms = this.#terms(subject, keepMs);
      // By the same owner: a claim whose answer was lost must not hold the delivery up for a lease.
      claim = await withRetry(() => this.#claim(subject, terms));
      if (claim.state === 'busy') claim = await this.#wait(subject, terms, claim);
    } catch (cause) {
      const error = new WebhookError('store_unavailable', 'The store could not take the claim.', {
        cause,
      });
      return { state: 'unavailable', error };
    }
    if (claim.state === 'busy') return claim;
    if (claim.state !== 'acquired') return { state: claim.state };

    // The first one counts in any case, and what cannot be parked may crash as often as it likes.
    const tellsBeginning = claim.attempt > 1 && this.#parks(subject);
    const lease = new Lease(this.#store, subject.key, claim, this.#timing, {
      askedAt: claim.askedAt,
      tellsBeginning,
    });
    if (this.#closing) {
      await this.#settle(lease, subject, { state: 'busy' }, keepMs);
      return { state: 'closing' };
    }

    const { attempt } = lease;
    const working = work(lease);
    const result = await lease.until(working);
    if (typeof result === 'string') {
      this.#settleLate(lease, subject, working, keepMs);
      return { state: result, attempt, error: lease.endError(result) };
    }
    const permanent = lastAttempt && this.#parks(subject);
    const settled = await this.#settle(lease, subject, result, keepMs, permanent);
    if (settled === 'lost') return { state: 'lost', attempt, error: lease.endError('lost') };
    return { state: 'worked', attempt, result, isDead: settled === 'dead' };
  }

  /**
   * Duplicates that arrive in this process while the first is running share what becomes of it. It is not
   * waited for for ever: Workers end what runs for a request, and its promise then never settles.
   *
   * @param key - Of what is run: to be handed to a queue and to be processed are two things.
   */
  join(key: string, run: () => Promise<Dispatched>): Promise<Dispatched> {
    const first = this.#running.get(key);
    const leftMs = first ? first.at + this.#timing.timeoutMs + GRACE_MS - performance.now() : 0;
    if (first && leftMs > 0) {
      const busy = () => ({ outcome: 'busy', ran: [] }) as const;
      return withTimeout(first.started, 'The first of them', Math.min(leftMs, MAX_TIMER_MS)).then(
        toDuplicate,
        busy,
      );
    }
    const running = { started: run(), at: performance.now() };
    const { started } = running;
    this.#running.set(key, running);
    const forget = () => {
      if (this.#running.get(key) === running) this.#running.delete(key);
      if (!this.#closing) this.#purging.perhaps();
    };
    started.then(forget, forget);
    return started;
  }

  /** Settles when nothing is running and to be recorded any more that no sender waits for. */
  get recording(): Promise<unknown> | undefined {
    return this.#late.size === 0 ? undefined : Promise.allSettled(this.#late);
  }

  /** Whether {@link close} has been called. */
  get isClosing(): boolean {
    return this.#closing;
  }

  /** Stops claiming, and waits until nothing is running any more, at most `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    this.#closing = true;
    // What takes longer is not reported: its lease lapses, and somebody else takes it over.
    await withTimeout(this.#idle(), 'What is running', Math.min(timeoutMs, MAX_TIMER_MS)).catch(
      () => {},
    );
    this.#closed = true;
  }

  async #idle(): Promise<void> {
    while (this.#running.size > 0 || this.#late.size > 0) {
      const running = [...this.#running.values()].map(({ started }) => started);
      await Promise.allSettled([...running, ...this.#late]);
    }
    await this.#purging.idle;
  }

  /** Only a durable store can park a delivery for a person to look at: elsewhere, dead would mean lost. */
  #parks({ body }: Claimable): boolean {
    return this.#store.durable && body !== undefined;
  }

  #terms(subject: Claimable, keepMs: number): LeaseTerms {
    const maxCrashes = this.#parks(subject) ? MAX_CRASHES : Number.POSITIVE_INFINITY;
    return { owner: crypto.randomUUID(), leaseMs: this.#timing.leaseMs, keepMs, maxCrashes };
  }

  /** Asks again for a while, because what is being processed elsewhere is most often soon done. */
  async #wait(subject: Claimable, terms: LeaseTerms, first: Granted): Promise<Granted> {
    const giveUpAt = performance.now() + this.#timing.waitMs;
    let claim = first;
    for (let pauseMs = 20; claim.state === 'busy'; pauseMs = Math.min(2 * pauseMs, 250)) {
      if (this.#closing || performance.now() + pauseMs > giveUpAt) break;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      claim = await this.#claim(subject, terms);
    }
    return claim;
  }

  /** A process that was frozen meanwhile has been granted what may be another one's by now: it asks again. */
  async #claim(subject: Claimable, terms: LeaseTerms): Promise<Granted> {
    const askedAt = performance.now();
    const claim = await this.#store.claim(subject, terms);
    if (claim.state !== 'acquired') return claim;
    const isLate = performance.now() - askedAt > this.#timing.leaseMs - this.#timing.renewMs;
    return isLate ? { state: 'busy', retryAfterMs: 0 } : { ...claim, askedAt };
  }

  async #settle(
    lease: Lease,
    subject: Claimable,
    work: Work,
    keepMs: number,
    permanent = false,
  ): Promise<Settled> {
    lease.stop();
    const settle = () => settlement(lease, work, keepMs, permanent);
    try {
      return await withRetry(settle);
    } catch (cause) {
      this.#goOn(this.#settleInTheEnd(lease, subject, settle, cause));
      // What is done is done: to have it sent again would only do it twice.
      return 'held';
    }
  }

  /** The fence sees to it that this is harmless, also where somebody else has taken over. */
  async #settleInTheEnd(
    lease: Lease,
    subject: Claimable,
    settle: () => Promise<Settled>,
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
    if (settled === undefined || settled === 'lost') tell();
  }

  /** Work that ends late still counts, unless somebody else has taken over by then. */
  #settleLate(lease: Lease, subject: Claimable, working: Promise<Work>, keepMs: number): void {
    this.#goOn(
      working
        .then<unknown>(({ state }) =>
          // The time limit was its failure. Now that it has stopped, a retry need not wait for the lease.
          state === 'done' ? this.#settle(lease, subject, { state }, keepMs) : lease.lapse(),
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

/** Whether the lease was still held; `dead` where it was, and the work has failed for the last time. */
type Settled = 'held' | 'dead' | 'lost';

async function settlement(
  lease: Lease,
  work: Work,
  keepMs: number,
  permanent: boolean,
): Promise<Settled> {
  if (work.state === 'failed') {
    const state = await lease.fail(work.error, { permanent });
    return state === 'retry' ? 'held' : state;
  }
  const isHeld = await (work.state === 'done' ? lease.complete(keepMs) : lease.release());
  return isHeld ? 'held' : 'lost';
}

function toDuplicate(first: Dispatched): Dispatched {
  const succeeded = first.outcome === 'handled' || first.outcome === 'parked';
  return { ...first, ran: [], outcome: succeeded ? 'duplicate' : first.outcome };
}
