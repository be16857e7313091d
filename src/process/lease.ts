import { WebhookError } from '../errors/errors.js';
import { afterTurn, withRetry } from '../runtime/timing.js';
import type { Json } from '../schemas/values.js';
import type {
  IdempotencyStore,
  StoreTransactions,
  Transacted,
  TransactTerms,
} from '../stores/store.js';

/** The time limits of processing, in milliseconds. */
export interface Timing {
  /** How long a lease lasts without renewal, and so how long a crash blocks a delivery. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** The longest that handlers may run. */
  readonly timeoutMs: number;
  /** How long to wait for a delivery that another process or request is handling. */
  readonly waitMs: number;
}

/** The result of work under a lease, with the names of the handlers that finished. */
export type Work = { readonly ran: readonly string[] } & (
  | { readonly state: 'done' }
  /** The work is done, and a transaction has recorded it. */
  | { readonly state: 'committed' }
  /** The work is done, and its steps stay in the store for later claims to read. */
  | { readonly state: 'kept' }
  | { readonly state: 'failed'; readonly error: string }
  /** Part of the work is being done elsewhere (`busy`), or could not be claimed (`unavailable`). */
  | { readonly state: 'busy' | 'unavailable' }
  /** The work failed for good, and the store keeps it for the operator. */
  | { readonly state: 'dead' }
  /** The lease ended before the work did. The work is not awaited. */
  | { readonly state: LeaseEnd }
);

type LeaseEnd = 'timeout' | 'lost';

/**
 * The right to process one key, which lasts while it is renewed. It ends early if the work takes longer than
 * `timeoutMs`, or if another process has taken over. The signal fires then.
 */
export class Lease {
  /** Always `undefined`: it tells a lease from a claim that was not granted, which has an outcome. */
  readonly outcome?: undefined;
  readonly key: string;
  readonly attempt: number;
  readonly steps: Readonly<Record<string, Json>>;
  /** Whether the store has accepted that the work is done. */
  isDone = false;
  /** Whether the store has not accepted yet that an effect of the work is done. */
  isEffectUnrecorded = false;
  readonly #store: IdempotencyStore;
  readonly #fence: number;
  readonly #timing: Timing;
  readonly #startedAt = performance.now();
  readonly #recordsBeginning: boolean;
  #beginning: Promise<boolean> | undefined;
  #renewedAt: number;
  #stopTimer: () => void;
  #stopped = false;
  /** A transaction holds the delivery: no process can take it over, or renew its lease. */
  #isInTransaction = false;
  #renewing: Promise<void> | undefined;
  #end: (reason: LeaseEnd) => void = () => {};
  #error: WebhookError | undefined;
  #abort: AbortController | undefined;
  /** Completed steps that the store has not accepted yet. */
  #unrecorded: Map<string, Json> | undefined;

  /**
   * @param options.askedAt - When it was claimed. The lease lasts at least `leaseMs` from then on.
   * @param options.recordsBeginning - Whether to record in the store that the work begins.
   */
  constructor(
    store: IdempotencyStore,
    key: string,
    claim: { fence: number; attempt: number; steps: Readonly<Record<string, Json>> },
    timing: Timing,
    {
      askedAt = performance.now(),
      recordsBeginning = false,
    }: { readonly askedAt?: number; readonly recordsBeginning?: boolean } = {},
  ) {
    this.#store = store;
    this.key = key;
    this.#fence = claim.fence;
    this.#timing = timing;
    this.attempt = claim.attempt;
    this.steps = claim.steps;
    this.#renewedAt = askedAt;
    this.#recordsBeginning = recordsBeginning;
    // If the claim was slow, renew earlier: the lease runs from the time of the request.
    const renewMs = timing.renewMs + askedAt - this.#startedAt;
    this.#stopTimer = this.#startTimer(Math.min(timing.timeoutMs, renewMs));
  }

  /** Fires when the lease ends early. Created on first use, because most handlers never use it. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#error) this.#abort.abort(this.#error);
    return this.#abort.signal;
  }

  /** Waits until the work ends or the lease ends early. The work must not reject. */
  until(working: Promise<Work>): Promise<Work> {
    return new Promise((resolve, reject) => {
      this.#end = (state) => resolve({ state, ran: [] });
      working.then(resolve, reject);
    });
  }

  /** Whether the lease has ended early, or expired while this process was suspended. Begin nothing more then. */
  hasEnded(): boolean {
    if (!this.#error && this.leftMs === 0 && !this.#isInTransaction) this.#endEarly('lost');
    return this.#error !== undefined;
  }

  /**
   * Notifies the store, by a renewal, that the work has begun. Await it before the first handler runs. A claim
   * whose answer was lost, and one under which nothing could run, do not count as crashes.
   *
   * @returns Whether the lease is still held.
   */
  begin(): boolean | Promise<boolean> {
    if (!this.#recordsBeginning) return true;
    this.#beginning ??= this.#recordBeginning();
    return this.#beginning;
  }

  async #recordBeginning(): Promise<boolean> {
    // If the store cannot record it, run anyway: an uncounted crash does less harm than a handler that does not run.
    await this.#renew();
    return !this.hasEnded();
  }

  /** Throws if the lease has ended. */
  check(): void {
    if (this.hasEnded()) throw this.#error;
  }

  /**
   * Records that a handler or a step of it is done. If the store cannot accept the record now, it is written again
   * when another handler's failure is recorded, before any retry. A delivery that is done does not need the
   * record.
   *
   * @throws {WebhookError} `lease_lost` if another process has taken over.
   */
  async completeStep(name: string, output: Json): Promise<void> {
    try {
      await this.recordStep(name, output);
    } catch (error) {
      if (error === this.#error) throw error;
    }
  }

  /** {@link completeStep} for work that must not count as done before it is recorded: throws what the store throws. */
  async recordStep(name: string, output: Json): Promise<void> {
    let isHeld: boolean;
    try {
      isHeld = await withRetry(() => this.#complete(name, output));
    } catch (error) {
      this.#unrecorded ??= new Map();
      this.#unrecorded.set(name, output);
      throw error;
    }
    if (isHeld) return;
    this.#endEarly('lost');
    this.check();
  }

  /**
   * Records the result of the work in the store, and returns the result that counts: `lost` if another process has
   * taken over, unless the work is kept, whose steps that process can read; `dead` if the work failed for good.
   */
  async settle(
    work: Work,
    { keepMs, permanent }: { readonly keepMs: number; readonly permanent: boolean },
  ): Promise<Work> {
    const lost: Work = { state: 'lost', ran: work.ran };
    if (work.state === 'committed') return work;
    if (work.state === 'done') {
      this.isDone = await this.#store.complete(this.key, this.#fence, keepMs);
      return this.isDone ? work : lost;
    }
    if (!(await this.#completeRest())) return lost;
    if (work.state !== 'failed') {
      const isReleased = await this.#store.release(this.key, this.#fence);
      return isReleased || work.state === 'kept' ? work : lost;
    }
    // The provider or the queue retries, so the key is released at once. No later step of this attempt may run.
    this.#error ??= this.endError('lost');
    const state = await this.#store.fail(this.key, this.#fence, { error: work.error, permanent });
    return state === 'dead' || state === 'lost' ? { ...lost, state } : work;
  }

  /** Runs a handler in a transaction of the store, which holds the delivery instead of the lease meanwhile. */
  async runInTransaction(
    transactions: StoreTransactions<unknown>,
    { effect, record }: Pick<TransactTerms, 'effect' | 'record'>,
    work: (tx: unknown) => unknown,
  ): Promise<Transacted> {
    const { signal } = this;
    const timeoutMs = this.#startedAt + this.#timing.timeoutMs - performance.now();
    const begin = async (needsLease?: boolean) => {
      const isHeld = await this.begin();
      // A renewal of another connection would wait for the transaction.
      this.#isInTransaction = !needsLease;
      await this.#renewing;
      return isHeld;
    };
    const terms = { key: this.key, fence: this.#fence, effect, record, timeoutMs, signal, begin };
    let isSettled = false;
    try {
      const result = await transactions.run(terms, work);
      isSettled = 'keepMs' in record;
      return result;
    } finally {
      if (!isSettled && this.#timing.renewMs < this.#timing.timeoutMs) await this.#renew(true);
      this.#isInTransaction = false;
    }
  }

  /** Ends the lease at once, after the completed steps are recorded. The next claim counts as one after a crash. */
  lapse(): Promise<boolean> {
    return withRetry(
      async () => (await this.#completeRest()) && this.#store.renew(this.key, this.#fence, 0),
    );
  }

  /** How long the lease lasts if it is not renewed; 0 if another process may hold it. */
  get leftMs(): number {
    return Math.max(0, this.#renewedAt + this.#timing.leaseMs - performance.now());
  }

  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
  }

  /** The error for a lease that ended early. It is reported, and is the reason of the signal. */
  endError(reason: LeaseEnd): WebhookError {
    if (reason === 'lost') {
      return new WebhookError('lease_lost', 'The lease has expired.');
    }
    return new WebhookError(
      'handler_timeout',
      `The handlers took longer than ${this.#timing.timeoutMs} ms. ` +
        'Make them faster, raise `timeout`, or move them behind a queue.',
    );
  }

  #startTimer(leftMs: number): () => void {
    return afterTurn(() => this.#tick(), Math.min(leftMs, this.#timing.renewMs));
  }

  #tick(): void {
    const left = this.#startedAt + this.#timing.timeoutMs - performance.now();
    if (left <= 0) this.#endEarly('timeout');
    else {
      this.#stopTimer = this.#startTimer(left);
      // Not awaited: a store that hangs must not delay the time limit.
      this.#renewing = this.#renew();
    }
  }

  /** @param isAfterTransaction - The lease may have expired. Until it is renewed, the transaction counts as running. */
  async #renew(isAfterTransaction = false): Promise<void> {
    if (this.#stopped || (this.#isInTransaction && !isAfterTransaction)) return;
    const asked = performance.now();
    const renew = async () =>
      this.#stopped ? undefined : this.#store.renew(this.key, this.#fence, this.#timing.leaseMs);
    // If the store fails, it may recover before the lease expires. A lease that expired while the process stood still is
    // renewed, too, unless another process has taken over.
    const held = await withRetry(renew).catch(() => undefined);
    if (held) this.#renewedAt = Math.max(this.#renewedAt, asked);
    else if (!this.#stopped && (held === false || this.hasEnded())) this.#endEarly('lost');
  }

  #complete(name: string, output: Json): Promise<boolean> {
    return this.#store.completeStep(this.key, this.#fence, name, output);
  }

  async #completeRest(): Promise<boolean> {
    for (const [name, output] of this.#unrecorded ?? []) {
      if (!(await this.#complete(name, output))) return false;
      this.#unrecorded?.delete(name);
    }
    return true;
  }

  #endEarly(reason: LeaseEnd): void {
    this.stop();
    this.#error ??= this.endError(reason);
    this.#end(reason);
    this.#abort?.abort(this.#error);
  }
}
