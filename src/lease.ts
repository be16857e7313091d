import { WebhookError } from './errors.js';
import type { Json } from './schemas/json.js';
import type { IdempotencyStore } from './stores/store.js';

/** How long things may take, in milliseconds. */
export interface Timing {
  /** How long a lease lasts without renewal: what a crash costs. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** The longest a handler may run. */
  readonly timeoutMs: number;
  /** How long to wait for a delivery that is being processed elsewhere. */
  readonly waitMs: number;
}

/** Why a lease ended before its work did. */
export type LeaseEnd = 'timeout' | 'lost';

/**
 * The right to process one key, held by renewing it. It ends early when the work takes longer than
 * `timeoutMs` or when another process has taken over; then the signal fires.
 */
export class Lease {
  readonly key: string;
  readonly attempt: number;
  readonly done: Readonly<Record<string, Json>>;
  readonly #store: IdempotencyStore;
  readonly #fence: number;
  readonly #timing: Timing;
  readonly #startedAt = performance.now();
  #renewedAt: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;
  #end: (reason: LeaseEnd) => void = () => {};
  #error: WebhookError | undefined;
  #abort: AbortController | undefined;

  /** @param askedAt - When it was claimed: it lasts from then on, at least. */
  constructor(
    store: IdempotencyStore,
    key: string,
    claim: { fence: number; attempt: number; done: Readonly<Record<string, Json>> },
    timing: Timing,
    askedAt = performance.now(),
  ) {
    this.#store = store;
    this.key = key;
    this.#fence = claim.fence;
    this.#timing = timing;
    this.attempt = claim.attempt;
    this.done = claim.done;
    this.#renewedAt = askedAt;
    // Sooner where the claim was slow: the lease runs from when it was asked for.
    const age = this.#startedAt - askedAt;
    this.#schedule(Math.min(timing.timeoutMs, Math.max(0, timing.renewMs - age)));
  }

  /** Fires when the lease has ended early. Made at first use: most handlers never look at it. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#error) this.#abort.abort(this.#error);
    return this.#abort.signal;
  }

  /** Waits for the work under this lease, or for the lease to end early. The work must not reject. */
  until<Result>(working: Promise<Result>): Promise<Result | LeaseEnd> {
    return new Promise((resolve, reject) => {
      this.#end = resolve;
      working.then(resolve, reject);
    });
  }

  /** Whether it has ended early, or has lapsed while this process was frozen: nothing more may be begun. */
  hasEnded(): boolean {
    if (!this.#error && this.#hasLapsed()) this.#endEarly('lost');
    return this.#error !== undefined;
  }

  /** Throws once the lease has ended. */
  check(): void {
    if (this.hasEnded()) throw this.#error;
  }

  /**
   * Records that a handler or a step of it is done.
   *
   * @throws {WebhookError} `lease_lost` where another process has taken over.
   */
  async record(name: string, output: Json): Promise<void> {
    if (await persist(() => this.#store.handlerDone(this.key, this.#fence, name, output))) return;
    this.#endEarly('lost');
    this.check();
  }

  complete(keepMs: number): Promise<boolean> {
    return persist(() => this.#store.complete(this.key, this.#fence, keepMs));
  }

  fail(error: string, { permanent }: { permanent: boolean }): Promise<'retry' | 'dead' | 'lost'> {
    // Who sent it does the retrying, or the queue: so it is free at once, and a later retry may succeed.
    const terms = { delayMs: 0, permanent, maxFailures: Number.POSITIVE_INFINITY, error };
    return persist(() => this.#store.fail(this.key, this.#fence, terms));
  }

  release(): Promise<boolean> {
    return persist(() => this.#store.release(this.key, this.#fence));
  }

  /** Ends the lease at once, as if it had run out: the next claim counts as one after a crash. */
  lapse(): Promise<boolean> {
    return persist(() => this.#store.renew(this.key, this.#fence, 0));
  }

  /** Stops renewing. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** What is reported, and given to the signal, when the lease ends early. */
  endError(reason: LeaseEnd): WebhookError {
    if (reason === 'lost') {
      return new WebhookError(
        'lease_lost',
        'The lease has lapsed, or another process has taken this delivery over.',
      );
    }
    return new WebhookError(
      'handler_timeout',
      `The handlers took longer than ${this.#timing.timeoutMs} ms. ` +
        'Make them faster, raise `timeout`, or hand deliveries to a queue.',
    );
  }

  #schedule(left: number): void {
    this.#timer = setTimeout(() => this.#tick(), Math.min(left, this.#timing.renewMs));
  }

  #tick(): void {
    const left = this.#startedAt + this.#timing.timeoutMs - performance.now();
    if (left <= 0) {
      this.#endEarly('timeout');
      return;
    }
    this.#schedule(left);
    // Not waited for: a store that hangs must not hold up the time limit.
    void this.#renew();
  }

  async #renew(): Promise<void> {
    if (this.hasEnded() || this.#stopped) return;
    const asked = performance.now();
    try {
      const held = await this.#store.renew(this.key, this.#fence, this.#timing.leaseMs);
      if (held) this.#renewedAt = Math.max(this.#renewedAt, asked);
      else if (!this.#stopped) this.#endEarly('lost');
    } catch {
      // The store may be back before the lease has lapsed.
    }
  }

  /** Once it has lapsed unrenewed, somebody else may hold it. */
  #hasLapsed(): boolean {
    return performance.now() - this.#renewedAt > this.#timing.leaseMs;
  }

  #endEarly(reason: LeaseEnd): void {
    this.stop();
    this.#error ??= this.endError(reason);
    this.#end(reason);
    this.#abort?.abort(this.#error);
  }
}

/**
 * Tries a write again where the store fails for a moment: what was done should not be forgotten. Each
 * verb may be asked again: where the first answer was lost, the second says the same, or `lost`.
 */
export async function persist<Result>(write: () => Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  for (const pauseMs of [50, 250]) {
    try {
      return await write();
    } catch (error) {
      // A store that is slow to fail would take its time again, and the sender is waiting.
      if (performance.now() - startedAt > 1_000) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return write();
}
