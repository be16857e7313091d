import { MAX_TIMER_MS } from '../errors/option-checks.js';
import type { Dispatched } from '../request/outcome.js';
import { withTimeout } from '../runtime/timing.js';

/** How long claiming and settling may take in addition to the handlers. */
const GRACE_MS = 30_000;

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
    this.#longestMs = timeoutMs + GRACE_MS;
  }

  /**
   * Runs the work, unless it is already running under this key. A copy does not wait for the first one forever:
   * Workers end the work of a request, and its promise then never settles.
   *
   * @param key - Names the work. The hand-off to a queue and the processing of one delivery have different keys.
   */
  join(key: string, run: () => Promise<Result>): Promise<Result | Dispatched> {
    const first = this.#runs.get(key);
    const leftMs = first ? first.startedAt + this.#longestMs - performance.now() : 0;
    if (first && leftMs > 0) return shared(first.running, Math.min(leftMs, MAX_TIMER_MS));
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

function shared<Result extends Dispatched>(
  first: Promise<Result>,
  leftMs: number,
): Promise<Result | Dispatched> {
  return withTimeout(first, 'The first copy', leftMs).then(
    (result) => {
      const isDone = result.outcome === 'handled' || result.outcome === 'parked';
      return { ...result, ran: [], outcome: isDone ? 'duplicate' : result.outcome };
    },
    () => ({ outcome: 'busy', ran: [] }),
  );
}
