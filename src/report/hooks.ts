import { safely } from '../errors/log.js';
import type { Delivery, DeliverySource } from '../request/delivery.js';
import type { Dispatched, Outcome, Rejection, RejectionCode, Result } from '../request/outcome.js';
import { sha2 } from '../runtime/hashes.js';
import { LateWork } from '../runtime/late-work.js';
import { withTimeout } from '../runtime/timing.js';
import type { Issue } from '../schemas/issue.js';
import { type Announced, type Failure, Messages } from './messages.js';
import { type Started, type Telemetry, trace, watched } from './telemetry.js';

const HALF = 5_000;

/** Remembers the content of the latest ids, to notice an id that is reused for other content. */
class RecentIds {
  // Two generations: dropping the older one whole costs nothing per delivery.
  #newer = new Map<string, string>();
  #older = new Map<string, string>();

  /** Whether this id last came with other content. */
  isReused(scope: string, id: string, content: string): boolean {
    // Hashed, because a sender can make an id of any length.
    const name = sha2.sha256(JSON.stringify([scope, id]));
    const state = sha2.sha256(content);
    const earlier = this.#newer.get(name) ?? this.#older.get(name);
    if (this.#newer.size >= HALF) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(name, state);
    return earlier !== undefined && earlier !== state;
  }
}

/** The argument of `hooks.onOutcome`: how a verified delivery ended. */
export interface OutcomeInfo {
  /** Not signed, so the sender can choose it: escape it before you display it. */
  readonly id: string;
  /** Not signed, so the sender can choose it: escape it before you display it. */
  readonly event: string;
  readonly scope: string;
  readonly source: DeliverySource;
  readonly outcome: Outcome;
  /** The names of the handlers that finished in this attempt. Empty if the time ran out or the lease was lost. */
  readonly ran: readonly string[];
  /**
   * The names of the handlers that were skipped because of their `when`. If all were, the outcome is `ignored`.
   */
  readonly skipped: readonly string[];
  /**
   * The number of this attempt, from 1, or of the attempt that a copy has waited for; `undefined` if there was no
   * attempt.
   */
  readonly attempt: number | undefined;
  /** The time from the request's headers to its outcome. */
  readonly durationMs: number;
  /** The fields of the payload that did not fit. */
  readonly issues: readonly Issue[];
  /** Whether this process recently received the same id with other content: a sender may be guessing ids. */
  readonly idReused: boolean;
}

/** The argument of `hooks.onRejected`: why a request was rejected. */
export interface RejectionInfo {
  readonly status: number;
  readonly code: RejectionCode;
  readonly message: string;
  /** The faults of the payload. The messages of a schema of your own may quote it. */
  readonly issues: readonly Issue[];
  /** Whether the signature matched. If so, this was a genuine delivery, and it has not been handled. */
  readonly verified: boolean;
  readonly id: string | undefined;
  readonly event: string | undefined;
  /**
   * The observation of the receiver, and what to change if the request was genuine. Contains names of headers and no values.
   */
  readonly detail: string | undefined;
}

/** The second argument of `hooks.onError`: where the error happened. */
export interface ErrorInfo {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly scope?: string | undefined;
  /** The name of the handler that threw. */
  readonly handler?: string | undefined;
  /** The number of the attempt at the delivery, from 1, if a handler threw. */
  readonly attempt?: number | undefined;
}

/**
 * Functions that the receiver calls to report what happens. They may throw. No response waits for them, except on a
 * platform that stops with the response: docs/reliability.md#after-the-response.
 */
export interface Hooks {
  /**
   * Called with the outcome of each verified delivery. Without it, the receiver logs parked deliveries and events
   * without a handler on stderr.
   */
  onOutcome?: (info: OutcomeInfo) => unknown;
  /**
   * Called for each rejected request, with the reason. Without it, the receiver logs rejections on stderr: the
   * first one, then one line a minute that counts the others.
   */
  onRejected?: (info: RejectionInfo) => unknown;
  /**
   * Called with each error, and the delivery that it concerns. Without it, the receiver logs errors on stderr: at
   * most ten a minute, and one line that counts the others.
   */
  onError?: (error: unknown, info: ErrorInfo) => unknown;
}

/** Calls the hooks and telemetry. Logs on stderr if silence would hide a lost delivery. */
export class Reporter {
  readonly #hooks: Hooks;
  readonly #telemetry: Telemetry | undefined;
  readonly #isDebug: boolean;
  readonly #recentIds = new RecentIds();
  readonly #lines = new Messages();
  /** The calls of hooks that have returned a promise, for at most 10 s each. */
  readonly #called = new LateWork();

  /** @param settings.debug - Whether to log every delivery on stderr. */
  constructor(settings: { hooks: Hooks; telemetry: Telemetry | undefined; debug: boolean }) {
    this.#hooks = settings.hooks;
    this.#telemetry = settings.telemetry;
    this.#isDebug = settings.debug;
  }

  /** Processes a delivery, and reports its result to telemetry, hooks and stderr. */
  async watch<Kind extends Result>(
    delivery: Delivery,
    started: Started,
    process: () => Promise<Kind>,
  ): Promise<Kind> {
    const telemetry = this.#telemetry;
    const result = await watched<Kind>(
      telemetry && ((run) => telemetry.delivery(trace(delivery, started), run)),
      process,
    );
    if (result.outcome === 'rejected') this.#rejection(result, delivery.payload);
    else this.#outcome(result, delivery, started.startedAt);
    return result;
  }

  /** Reports a request that was rejected before there was a delivery. */
  refused(rejection: Rejection, startedAt: number): Rejection {
    safely(() => this.#telemetry?.rejected(rejection, startedAt));
    this.#rejection(rejection);
    return rejection;
  }

  /** Reports a request that was answered 503 because of overload, or whose sender disconnected before it was processed. */
  shed(): void {
    safely(() => this.#telemetry?.shed?.());
  }

  /** Reports a request that could not be verified because of an error in the program or its configuration. */
  unverifiable(error: unknown, startedAt: number): void {
    safely(() => this.#telemetry?.failed(error, startedAt));
    this.error(error, {});
  }

  #outcome(result: Dispatched, delivery: Delivery, startedAt: number): void {
    const { onOutcome } = this.#hooks;
    const durationMs = performance.now() - startedAt;
    if (this.#isDebug) this.#lines.traced(delivery, result, durationMs);
    if (!onOutcome) {
      this.#lines.ended(result, delivery);
      return;
    }
    const { outcome, ran, skipped = [], attempt, issues = delivery.issues } = result;
    const { id, event, scope, source, content } = delivery;
    const idReused = this.#recentIds.isReused(scope, id, content);
    this.#call(() =>
      onOutcome({
        id,
        event,
        scope,
        source,
        outcome,
        ran,
        skipped,
        attempt,
        durationMs,
        issues,
        idReused,
      }),
    );
  }

  /** @param payload - The payload of a genuine delivery, so that stderr names the order. */
  #rejection(rejection: Rejection, payload?: unknown): void {
    if (this.#isDebug) this.#lines.tracedRefusal(rejection);
    const { onRejected } = this.#hooks;
    if (!onRejected) {
      this.#lines.refused(rejection, payload);
      return;
    }
    const { status, code, message, issues, verified, id, event, detail } = rejection;
    this.#call(() => onRejected({ status, code, message, issues, verified, id, event, detail }));
  }

  error(error: unknown, failure: Failure & { readonly scope?: string | undefined }): void {
    const { onError } = this.#hooks;
    const { id, event, scope, handler, attempt } = failure;
    const tell = () => this.#lines.failed(error, failure);
    if (onError) this.#call(() => onError(error, { id, event, scope, handler, attempt }), tell);
    else tell();
  }

  announce(announced: Announced): void {
    this.#lines.announce(announced);
  }

  #call(hook: () => unknown, instead: () => void = () => {}): void {
    const failed = (error: unknown) => {
      this.#lines.hookFailed(error);
      instead();
    };
    try {
      const given = hook();
      const ended = Promise.resolve(given).catch(failed);
      if (typeof given === 'object' && given !== null)
        this.#called.add(withTimeout(ended, 'A hook').catch(() => {}));
    } catch (error) {
      failed(error);
    }
  }

  /** Settles when the work, which may call hooks, and all promises of hooks have settled; `undefined` if none is left. */
  after(work: Promise<unknown> | undefined): Promise<unknown> | undefined {
    return work ? work.then(() => this.#called.ended) : this.#called.ended;
  }

  /** Logs the counts that have not been logged yet. */
  flush(): void {
    this.#lines.flush();
  }
}
