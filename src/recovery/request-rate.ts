import { ApiError } from '../api/api-error.js';
import { pause } from '../api/timeouts.js';
import { unexplained } from '../errors/docs-link.js';
import { isUntrusted } from '../runtime/certificates.js';
import type { SourceSettings } from './source.js';

/** The errors that may not occur again later. All others stay the same. */
export const LATER: readonly string[] = [
  'rate_limited',
  'unavailable',
  'timed_out',
  'unreachable',
  'server_failed',
];
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** The most tries of one request, over about four minutes. The client itself does not retry. */
const MAX_TRIES = 10;

/** How a request is tried. */
interface Trying {
  readonly tries?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Limits the rate of requests to the provider's service, and waits if the provider asks for it. */
export class Pace {
  readonly #apartMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #onProgress: SourceSettings['onProgress'];
  #nextAt = 0;
  #isAnswered = false;
  /** The number of requests so far. */
  requests = 0;

  constructor({ perSecond, signal, onProgress }: SourceSettings) {
    this.#apartMs = 1_000 / perSecond;
    this.#signal = signal;
    this.#onProgress = onProgress;
  }

  /**
   * Makes a request when its turn has come, and retries it while the provider is unavailable.
   *
   * @param tries - The most tries in all.
   * @param signal - Ends the waiting. Default: that of the run.
   * @throws {ApiError} If the provider rejects the request for good, or the last try fails.
   */
  async run<Result>(
    request: () => Promise<Result>,
    { tries = MAX_TRIES, signal = this.#signal }: Trying = {},
  ): Promise<Result> {
    for (let tried = 1; ; tried++) {
      await this.#turn(signal);
      try {
        this.requests += 1;
        const result = await request();
        this.#isAnswered = true;
        return result;
      } catch (error) {
        await this.pauseAfter(error, tried, { tries, signal });
      }
    }
  }

  /**
   * Waits before the next try of a request, at least as long as the provider asks.
   *
   * @throws The error itself, if it stays the same later or no try is left; also if the first request finds a
   *   certificate that is not trusted.
   */
  async pauseAfter(
    error: unknown,
    tried: number,
    { tries = MAX_TRIES, signal = this.#signal }: Trying = {},
  ): Promise<void> {
    const isLater = error instanceof ApiError && LATER.includes(error.code);
    if (!isLater || tried === tries || this.#isUntrusted(error)) throw error;
    const reason = unexplained(error.message);
    this.#onProgress({ step: 'waiting', done: tried, of: tries, reason });
    const grown = Math.min(FIRST_PAUSE_MS * 2 ** (tried - 1), MAX_PAUSE_MS);
    await pause(Math.max(grown, error.retryAfterMs ?? 0), signal);
  }

  /** Whether the provider has answered nothing yet, and has no certificate that waiting would make valid. */
  #isUntrusted({ fault = '' }: ApiError): boolean {
    return !this.#isAnswered && isUntrusted(fault);
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#apartMs;
    if (at > now) await pause(at - now, signal);
  }
}
