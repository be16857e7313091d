import { MAX_TIMER_MS } from '../errors/option-checks.js';
import type { Dispatched } from '../request/outcome.js';
import { withTimeout } from '../runtime/timing.js';
import { longestMs } from './own-process.js';

interface Run<Result> {
  readonly running: Promise<Result>;
  readonly startedAt: number;
}

/** Runs a delivery once in this process. Copies that arrive while it is running share its result. */
export class InFlight<Result extends Dispatched = Dispatched> {
  readonly #runs = new Map<string, Run<Result>>();
  readonly #longestMs: number;

  /** @param timeoutMs - The longest that handlers may run. */
  constructor(timeoutMs: number) {
    this.#longestMs = longestMs(timeoutMs);
  }

  /**
   * Runs the work, unless it is already running under this key. A copy does not wait for the first one forever:
   * Workers end the work of a request, and its promise then never settles. The copy then runs the work itself: the
   * lease decides between them, as between processes.
   *
   * @param key - Names the work. The hand-off to a queue and the processing of one delivery have different keys.
   */
  join(key: string, run: () => Promise<Result>): Promise<Result | Dispatched> {
    const first = this.#runs.get(key);
    const leftMs = first ? first.startedAt + this.#longestMs - performance.now() : 0;
    if (first && leftMs > 0) {
      return withTimeout(first.running, '', Math.min(leftMs, MAX_TIMER_MS)).then(toCopy, () =>
        this.join(key, run),
      );
    }
    const running = run();
    const own = { running, startedAt: performance.now() };
    this.#runs.set(key, own);
    const forget = () => {
      if (this.#runs.get(key) === own) this.#runs.delete(key);
    };
    running.then(forget, forget);
    return running;
  }

  /** Everything that is running. */
  get running(): readonly Promise<Result>[] {
    return Array.from(this.#runs.values(), ({ running }) => running);
  }
}

/** The result of a copy of the delivery with this result: a `duplicate` only if the first has done the work. */
function toCopy<Result extends Dispatched>(result: Result): Result | Dispatched {
  const { outcome } = result;
  return { ...result, ran: [], outcome: outcome === 'handled' ? 'duplicate' : outcome };
}
