import type { Dispatched, Outcome, Rejection, RejectionCode, Result } from '../outcome.js';
import type { Delivery, DeliverySource } from '../request/delivery.js';
import { sha2 } from '../request/sha2.js';
import type { Issue } from '../schemas/issue.js';
import { harmless } from './harmless.js';
import { type Announced, type Failure, Lines } from './lines.js';
import { type Started, type Telemetry, trace, watched } from './telemetry.js';

const HALF = 5_000;

/** Remembers which content the latest ids came with, to notice an id that is used for another. */
class RecentIds {
  // Two generations: forgetting the older one whole costs nothing per delivery.
  #newer = new Map<string, string>();
  #older = new Map<string, string>();

  /** Whether this id was last seen with other content. */
  isReused(scope: string, id: string, content: string): boolean {
    // Hashed, because an id may be as long as its sender likes.
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

/** Told to `hooks.onOutcome` when it is known how a verified delivery ended. */
export interface OutcomeInfo {
  /** Not signed, and the sender's to choose: escape it before it is shown. */
  readonly id: string;
  /** Not signed, and the sender's to choose: escape it before it is shown. */
  readonly event: string;
  readonly scope: string;
  readonly source: DeliverySource;
  readonly outcome: Outcome;
  /** Names of the handlers that ran to their end. */
  readonly ran: readonly string[];
  /** Names of the handlers that their `when` left out. Where that is all of them, it is `ignored`. */
  readonly skipped: readonly string[];
  /** 1 for the first attempt; absent where none was made. */
  readonly attempt: number | undefined;
  /** From the request's headers to its outcome. */
  readonly durationMs: number;
  /** Fields of the payload that did not fit. */
  readonly issues: readonly Issue[];
  /** This process has lately seen the same id with other content: somebody may be guessing ids. */
  readonly idReused: boolean;
}

/** Told to `hooks.onRejected` when a request has been refused. */
export interface RejectionInfo {
  readonly status: number;
  readonly code: RejectionCode;
  readonly message: string;
  /** What is wrong with the payload. The messages of a schema of yours may quote it. */
  readonly issues: readonly Issue[];
  /** Whether the signature held: then this was a real delivery, and nobody has handled it. */
  readonly verified: boolean;
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** What was seen, and what to change if it was genuine: names of headers, and no values. */
  readonly detail: string | undefined;
}

/** Told to `hooks.onError` beside the error. */
export interface ErrorInfo {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly scope?: string | undefined;
  /** The name of the handler that threw. */
  readonly handler?: string | undefined;
  /** Which attempt at the delivery it was, where a handler threw: 1 for the first. */
  readonly attempt?: number | undefined;
}

/** What a program is told while it runs. A hook is not waited for, and may throw without harm. */
export interface Hooks {
  /** Told how each verified delivery ended. Without it, what is parked and what nobody handles is told of on stderr. */
  onOutcome?: (info: OutcomeInfo) => unknown;
  /**
   * Told what was refused, and why. Without it, refusals are told of on stderr: the first, then one line a
   * minute that counts the rest.
   */
  onRejected?: (info: RejectionInfo) => unknown;
  /**
   * Told what went wrong, and with which delivery. Without it, an error is one line on stderr; of many, ten
   * a minute and one that counts the rest.
   */
  onError?: (error: unknown, info: ErrorInfo) => unknown;
}

/** Calls the hooks and telemetry, and speaks on stderr where silence would hide a lost delivery. */
export class Reporter {
  readonly #hooks: Hooks;
  readonly #telemetry: Telemetry | undefined;
  readonly #isDebug: boolean;
  readonly #recentIds = new RecentIds();
  readonly #lines = new Lines();

  /** @param settings.debug - Whether every delivery is told of on stderr. */
  constructor(settings: { hooks: Hooks; telemetry: Telemetry | undefined; debug: boolean }) {
    this.#hooks = settings.hooks;
    this.#telemetry = settings.telemetry;
    this.#isDebug = settings.debug;
  }

  /** Has a delivery processed, and tells everybody what became of it. */
  async watch<Kind extends Result>(
    delivery: Delivery,
    started: Started,
    process: () => Promise<Kind>,
  ): Promise<Kind> {
    const telemetry = this.#telemetry;
    const result = await (telemetry
      ? watched((run) => telemetry.delivery(trace(delivery, started), run), process)
      : process());
    if (result.outcome === 'rejected') this.#rejection(result, delivery.payload);
    else this.#outcome(result, delivery, started.startedAt);
    return result;
  }

  /** A request was refused before there was a delivery. */
  refused(rejection: Rejection, startedAt: number): Rejection {
    harmless(() => this.#telemetry?.rejected(rejection, startedAt));
    this.#rejection(rejection);
    return rejection;
  }

  /** A request could not even be verified: the receiver is set up wrong. */
  unverifiable(error: unknown, startedAt: number): void {
    harmless(() => this.#telemetry?.failed(error, startedAt));
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
    const { outcome, ran, skipped = [], attempt } = result;
    const { id, event, scope, source, issues, content } = delivery;
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

  /** @param payload - Of a genuine delivery: stderr names the order. */
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
      Promise.resolve(hook()).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Tells what has been counted and not told yet. */
  flush(): void {
    this.#lines.flush();
  }
}
