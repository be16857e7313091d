import { WebhookError } from '../errors.js';
import type { Json } from '../schemas/json.js';
import type { IdempotencyStore } from '../stores/store.js';
import { withRetry } from '../timing.js';

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

/** What work under a lease came to, and the names of the handlers that ran to their end. */
export type Work = { readonly ran: readonly string[] } & (
  | { readonly state: 'done' }
  /** It is done, and its steps are kept, to be looked at by each claim to come. */
  | { readonly state: 'kept' }
  | { readonly state: 'failed'; readonly error: string }
  /** Part of it is being done elsewhere, or could not even be claimed. */
  | { readonly state: 'busy' | 'unavailable' }
  /** It failed for good, and the store keeps it for a person. */
  | { readonly state: 'dead' }
  /** The lease ended before the work did, which is not waited for. */
  | { readonly state: LeaseEnd }
);

const LOST: Work = { state: 'lost', ran: [] };

type LeaseEnd = 'timeout' | 'lost';

/**
 * The right to process one key, held by renewing it. It ends early when the work takes longer than
 * `timeoutMs` or when another process has taken over; then the signal fires.
 */
export class Lease {
  /** A lease has no outcome yet; a claim that was not granted has one. */
  readonly outcome?: undefined;
  readonly key: string;
  readonly attempt: number;
  readonly steps: Readonly<Record<string, Json>>;
  readonly #store: IdempotencyStore;
  readonly #fence: number;
  readonly #timing: Timing;
  readonly #startedAt = performance.now();
  readonly #tellsBeginning: boolean;
  #beginning: Promise<boolean> | undefined;
  #renewedAt: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;
  #end: (reason: LeaseEnd) => void = () => {};
  #error: WebhookError | undefined;
  #abort: AbortController | undefined;
  /** What is done, and what the store could not yet be told. */
  #unrecorded: Map<string, Json> | undefined;

  /**
   * @param options.askedAt - When it was claimed: it lasts from then on, at least.
   * @param options.tellsBeginning - Whether the store has to be told when its work begins.
   */
  constructor(
    store: IdempotencyStore,
    key: string,
    claim: { fence: number; attempt: number; steps: Readonly<Record<string, Json>> },
    timing: Timing,
    {
      askedAt = performance.now(),
      tellsBeginning = false,
    }: { readonly askedAt?: number; readonly tellsBeginning?: boolean } = {},
  ) {
    this.#store = store;
    this.key = key;
    this.#fence = claim.fence;
    this.#timing = timing;
    this.attempt = claim.attempt;
    this.steps = claim.steps;
    this.#renewedAt = askedAt;
    this.#tellsBeginning = tellsBeginning;
    // It is renewed sooner where the claim was slow: the lease runs from when it was asked for.
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
  until(working: Promise<Work>): Promise<Work> {
    return new Promise((resolve, reject) => {
      this.#end = (state) => resolve({ state, ran: [] });
      working.then(resolve, reject);
    });
  }

  /** Whether it has ended early, or has lapsed while this process was frozen: nothing more may be begun. */
  hasEnded(): boolean {
    if (!this.#error && this.leftMs === 0) this.#endEarly('lost');
    return this.#error !== undefined;
  }

  /**
   * To be waited for before the first handler runs: by its renewal, the store knows that what was claimed has
   * begun. A claim whose answer was lost, and one under which nothing could be run, are no crashes.
   *
   * @returns Whether it is still held.
   */
  begin(): boolean | Promise<boolean> {
    if (!this.#tellsBeginning) return true;
    this.#beginning ??= this.#tellBeginning();
    return this.#beginning;
  }

  async #tellBeginning(): Promise<boolean> {
    // Where it cannot be told, it is held all the same: not to run would do more harm than a crash uncounted.
    await this.#renew();
    return !this.hasEnded();
  }

  /** Throws once the lease has ended. */
  check(): void {
    if (this.hasEnded()) throw this.#error;
  }

  /**
   * Records that a handler or a step of it is done. What the store cannot take now is recorded with the
   * failure of another handler, before anybody tries again; a delivery that is done needs no such record.
   *
   * @throws {WebhookError} `lease_lost` where another process has taken over.
   */
  async completeStep(name: string, output: Json): Promise<void> {
    try {
      await this.recordStep(name, output);
    } catch (error) {
      if (error === this.#error) throw error;
    }
  }

  /**
   * {@link completeStep} of what nobody may hear of before it is recorded: throws also what the store throws.
   *
   * @throws {WebhookError} `lease_lost` where another process has taken over.
   */
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
   * Has the store record what the work came to, and gives what counts: `lost` where another process has taken
   * over, `dead` where it failed for good.
   */
  async settle(
    work: Work,
    { keepMs, permanent }: { readonly keepMs: number; readonly permanent: boolean },
  ): Promise<Work> {
    if (work.state === 'done') {
      const isHeld = await this.#store.complete(this.key, this.#fence, keepMs);
      return isHeld ? work : LOST;
    }
    if (!(await this.#completeRest())) return LOST;
    if (work.state !== 'failed')
      return (await this.#store.release(this.key, this.#fence)) ? work : LOST;
    // Who sent it does the retrying, or the queue: so it is free at once, and a later retry may succeed.
    const state = await this.#store.fail(this.key, this.#fence, { error: work.error, permanent });
    if (state === 'lost') return LOST;
    return state === 'dead' ? { state, ran: work.ran } : work;
  }

  /** Ends the lease at once, as if it had run out: the next claim counts as one after a crash. */
  lapse(): Promise<boolean> {
    return withRetry(() => this.#store.renew(this.key, this.#fence, 0));
  }

  /** How long it lasts from now on, unless it is renewed; 0 where somebody else may hold it. */
  get leftMs(): number {
    return Math.max(0, this.#renewedAt + this.#timing.leaseMs - performance.now());
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
        'Make them faster, raise `timeout`, or, without a queue, use one.',
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
