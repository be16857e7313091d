import type { Dispatched } from '../outcome.js';
import { MAX_TIMER_MS, withTimeout } from '../timing.js';

/** What claiming and settling may take beside the handlers. */
const GRACE_MS = 30_000;

interface Run<Result> {
  readonly running: Promise<Result>;
  readonly startedAt: number;
}

/** Copies of a delivery that come to this process while the first is being processed share what becomes of it. */
export class InFlight<Result extends Dispatched = Dispatched> {
  readonly #runs = new Map<string, Run<Result>>();
  readonly #longestMs: number;

  /** @param timeoutMs - The longest that handlers may run. */
  constructor(timeoutMs: number) {
    this.#longestMs = timeoutMs + GRACE_MS;
  }

  /**
   * Runs what is not running yet. The first is not waited for for ever: Workers end what runs for a request,
   * and its promise then never settles.
   *
   * @param key - Names what is run: a hand-off to a queue and the processing of one delivery are two things.
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

  /** All that is running. */
  get running(): readonly Promise<Result>[] {
    return Array.from(this.#runs.values(), ({ running }) => running);
  }
}

function shared<Result extends Dispatched>(
  first: Promise<Result>,
  leftMs: number,
): Promise<Result | Dispatched> {
  return withTimeout(first, 'The first of them', leftMs).then(
    (result) => {
      const isDone = result.outcome === 'handled' || result.outcome === 'parked';
      return { ...result, ran: [], outcome: isDone ? 'duplicate' : result.outcome };
    },
    () => ({ outcome: 'busy', ran: [] }),
  );
}
