import { WebhookError } from '../errors/errors.js';
import type { Outcome } from '../request/outcome.js';
import { clearTimeout, setTimeout } from './timers.js';

/** The answer of a target. */
export interface TargetResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /**
   * The outcome, and the names of the handlers that ran; absent if the target is neither a receiver nor
   * goods.
   */
  readonly outcome?: Outcome | undefined;
  readonly ran?: readonly string[] | undefined;
}

const MAX_BYTES = 1024 * 1024;

/** The body of an answer that is being received. It may come from any server, and may be endless. */
export class ResponseBody {
  readonly #pieces: Uint8Array[] = [];
  readonly #from: string;
  #size = 0;

  /** @param from - The sender of the answer, as the subject of a sentence. */
  constructor(from: string) {
    this.#from = from;
  }

  /**
   * Adds a piece of the body.
   *
   * @throws {WebhookError} `response_invalid` if it is over 1 MiB.
   */
  add(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#size > MAX_BYTES) {
      throw new WebhookError(
        'response_invalid',
        `${this.#from} answered with more than 1 MiB, which neither a receiver nor goods do. Check that the target is one of them.`,
      );
    }
    this.#pieces.push(piece);
  }

  whole(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#pieces));
  }
}

/**
 * Runs a call of a target that may never end, and rejects when the time is over.
 *
 * @param what - The event that did not happen, as the beginning of a sentence.
 * @param run - Gets a signal that fires when the time is over, so that it can release what it holds.
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
    const advice = 'Check what it waits for, or give replay() a longer timeout';
    controller.abort(new WebhookError('timed_out', `${what} within ${ms} ms. ${advice}.`));
  }, ms);
  try {
    return await Promise.race([run(signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
