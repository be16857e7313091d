import type { Delivery, DeliverySource } from './delivery.js';
import { writeLine } from './log.js';
import type { Dispatched, Outcome, Rejection, RejectionCode } from './outcome.js';
import { describeError, printable } from './printable.js';
import { RecentIds } from './recent-ids.js';
import type { Issue } from './schemas/issue.js';

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
}

/** Told to `hooks.onError` beside the error. */
export interface ErrorInfo {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly scope?: string | undefined;
  /** The name of the handler that threw. */
  readonly handler?: string | undefined;
}

/** What a program is told while it runs. A hook is not waited for, and may throw without harm. */
export interface Hooks {
  onOutcome?: (info: OutcomeInfo) => unknown;
  onRejected?: (info: RejectionInfo) => unknown;
  /** Without it, an error is one line on stderr. */
  onError?: (error: unknown, info: ErrorInfo) => unknown;
}

/** What an error is about. */
export function nameOf({ id, event, scope }: Pick<Delivery, 'id' | 'event' | 'scope'>): ErrorInfo {
  return { id, event, scope };
}

/** Calls the hooks, and speaks on stderr where silence would hide a lost delivery. */
export class Reporter {
  readonly #hooks: Hooks;
  readonly #recentIds = new RecentIds();

  constructor(hooks: Hooks) {
    this.#hooks = hooks;
  }

  outcome({ outcome, ran, attempt }: Dispatched, delivery: Delivery, startedAt: number): void {
    const { onOutcome } = this.#hooks;
    if (!onOutcome) return;
    const durationMs = performance.now() - startedAt;
    const { id, event, scope, source, issues, content } = delivery;
    const idReused = this.#recentIds.isReused(scope, id, content);
    call(() =>
      onOutcome({ id, event, scope, source, outcome, ran, attempt, durationMs, issues, idReused }),
    );
  }

  rejection({ status, code, message, issues, verified, id, event }: Rejection): void {
    const { onRejected } = this.#hooks;
    if (onRejected) {
      call(() => onRejected({ status, code, message, issues, verified, id, event }));
    } else if (verified) {
      const fields = issues.map(({ path, foreign }) => (foreign ? 'the payload' : path)).join(', ');
      const hint = fields === '' ? '' : ` Look at: ${fields}.`;
      writeLine(`refused ${name({ id: id ?? '(none)', event })} with ${status}: ${message}${hint}`);
    }
  }

  error(error: unknown, info: ErrorInfo): void {
    const { onError } = this.#hooks;
    if (onError) {
      call(() => onError(error, info));
    } else {
      const handler = info.handler === undefined ? '' : ` in the handler "${info.handler}"`;
      writeLine(`error${handler} for ${name(info)}: ${describeError(error)}`);
    }
  }
}

function name({ id, event }: ErrorInfo = {}): string {
  if (id === undefined) return 'a request';
  return `delivery ${printable(id, 80)} (${printable(event ?? '', 80)})`;
}

function call(hook: () => unknown): void {
  const failed = (error: unknown) => writeLine(`a hook threw: ${describeError(error)}`);
  try {
    Promise.resolve(hook()).catch(failed);
  } catch (error) {
    failed(error);
  }
}
