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
  #renewedAt = this.#startedAt;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #renewing = false;
  #stopped = false;
  #end: (reason: LeaseEnd) => void = () => {};
  #error: WebhookError | undefined;
  #abort: AbortController | undefined;

  constructor(
    store: IdempotencyStore,
    key: string,
    claim: { fence: number; attempt: number; done: Readonly<Record<string, Json>> },
    timing: Timing,
  ) {
    this.#store = store;
    this.key = key;
    this.#fence = claim.fence;
    this.#timing = timing;
    this.attempt = claim.attempt;
    this.done = claim.done;
    this.#schedule(timing.timeoutMs);
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

  /** Throws once the lease has ended early. */
  check(): void {
    if (this.#error) throw this.#error;
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

  async fail(error: string): Promise<boolean> {
    // Whoever sent it does the retrying, so it is free at once, and a later retry may always succeed.
    const terms = { delayMs: 0, permanent: false, maxFailures: Number.POSITIVE_INFINITY, error };
    return (await persist(() => this.#store.fail(this.key, this.#fence, terms))) !== 'lost';
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
      return new WebhookError('lease_lost', 'Another process has taken this delivery over.');
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
    const asked = performance.now();
    // Once the lease has lapsed unrenewed, somebody else may hold it.
    if (asked - this.#renewedAt > this.#timing.leaseMs) this.#endEarly('lost');
    if (this.#renewing || this.#stopped) return;
    this.#renewing = true;
    try {
      const held = await this.#store.renew(this.key, this.#fence, this.#timing.leaseMs);
      if (held) this.#renewedAt = asked;
      else if (!this.#stopped) this.#endEarly('lost');
    } catch {
      // The store may be back before the lease has lapsed.
    } finally {
      this.#renewing = false;
    }
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
  for (const pauseMs of [50, 250]) {
    try {
      return await write();
    } catch (error) {
      // A store that hangs would take its time again, and the sender is waiting.
      if (error instanceof WebhookError && error.code === 'timed_out') throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return write();
}
