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
  /** Settles when the lease ends early; never rejects. */
  readonly ended: Promise<LeaseEnd>;
  readonly #fence: number;
  readonly #store: IdempotencyStore;
  readonly #timing: Timing;
  #end: (reason: LeaseEnd) => void = () => {};
  #error: WebhookError | undefined;
  #abort: AbortController | undefined;
  #deadline: ReturnType<typeof setTimeout>;
  #renewal: ReturnType<typeof setTimeout>;
  #renewedAt = performance.now();
  #stopped = false;

  constructor(
    store: IdempotencyStore,
    key: string,
    {
      fence,
      attempt,
      done,
    }: { fence: number; attempt: number; done: Readonly<Record<string, Json>> },
    timing: Timing,
  ) {
    this.key = key;
    this.attempt = attempt;
    this.done = done;
    this.#fence = fence;
    this.#store = store;
    this.#timing = timing;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#deadline = setTimeout(() => this.#stopEarly('timeout'), timing.timeoutMs);
    this.#renewal = setTimeout(() => this.#renew(), timing.renewMs);
  }

  /** Fires when the lease has ended early. Made at first use: most handlers never look at it. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#error) this.#abort.abort(this.#error);
    return this.#abort.signal;
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
    const kept = await persist(() => this.#store.handlerDone(this.key, this.#fence, name, output));
    if (kept) return;
    this.#stopEarly('lost');
    this.check();
  }

  async complete(keepMs: number): Promise<boolean> {
    return persist(() => this.#store.complete(this.key, this.#fence, keepMs));
  }

  async fail(error: string): Promise<boolean> {
    // The sender does the retrying, so it is free at once, and a later retry may always succeed.
    const terms = { delayMs: 0, permanent: false, maxFailures: Number.POSITIVE_INFINITY, error };
    return (await persist(() => this.#store.fail(this.key, this.#fence, terms))) !== 'lost';
  }

  async release(): Promise<boolean> {
    return persist(() => this.#store.release(this.key, this.#fence));
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

  /** Stops renewing. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#renewal);
  }

  async #renew(): Promise<void> {
    const asked = performance.now();
    try {
      const held = await this.#store.renew(this.key, this.#fence, this.#timing.leaseMs);
      if (this.#stopped) return;
      if (!held) return this.#stopEarly('lost');
      this.#renewedAt = asked;
    } catch {
      if (this.#stopped) return;
      // The store may be back in time; once the lease has lapsed unrenewed, somebody else may hold it.
      if (asked - this.#renewedAt > this.#timing.leaseMs) return this.#stopEarly('lost');
    }
    this.#renewal = setTimeout(() => this.#renew(), this.#timing.renewMs);
  }

  #stopEarly(reason: LeaseEnd): void {
    this.stop();
    this.#error ??= this.endError(reason);
    this.#end(reason);
    this.#abort?.abort(this.#error);
  }
}

const RETRY_AFTER_MS = [50, 250];

/** Tries a write again where the store fails for a moment: what was done should not be forgotten. */
async function persist<Result>(write: () => Promise<Result>): Promise<Result> {
  for (const delayMs of RETRY_AFTER_MS) {
    try {
      return await write();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
  return write();
}
