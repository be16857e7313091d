import { WebhookError } from '../errors.js';
import type { Outcome } from '../outcome.js';

/** An answer as it came in. */
export interface TargetResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** What became of it, and the names of the handlers that ran; known only where the target is a receiver or goods. */
  readonly outcome?: Outcome | undefined;
  readonly ran?: readonly string[] | undefined;
}

const MAX_BYTES = 1024 * 1024;

/** The body of an answer while it comes in, which may be anybody's and without end. */
export class ResponseBody {
  readonly #pieces: Uint8Array[] = [];
  readonly #from: string;
  #size = 0;

  /** @param from - Names who answers, as the subject of a sentence. */
  constructor(from: string) {
    this.#from = from;
  }

  /** @throws {WebhookError} `response_invalid` where it is over 1 MiB. */
  add(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#size > MAX_BYTES) {
      throw new WebhookError(
        'response_invalid',
        `${this.#from} answered with more than 1 MiB, which neither a receiver nor goods do. Look whether it is one of them that is sent to.`,
      );
    }
    this.#pieces.push(piece);
  }

  whole(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#pieces));
  }
}

// Before a test replaces them: one that moves its clock on to see a handler run out of time is no late answer.
const { setTimeout, clearTimeout } = globalThis;

/**
 * Runs what a target may never end.
 *
 * @param what - Says what did not happen, as the beginning of a sentence.
 * @param run - Its signal fires when the time is over, so that it lets go of what it holds.
 * @throws {WebhookError} `timed_out`
 */
export async function within<Value>(
  ms: number,
  what: string,
  run: (signal: AbortSignal) => PromiseLike<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const { signal } = controller;
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  const timer = setTimeout(() => {
    const advice = 'Look at what it waits for, or give replay() a longer timeout';
    controller.abort(new WebhookError('timed_out', `${what} within ${ms} ms. ${advice}.`));
  }, ms);
  try {
    return await Promise.race([run(signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
