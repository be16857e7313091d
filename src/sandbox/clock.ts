import { writeLine } from '../report/log.js';
import { describeInFull } from '../report/text.js';

/**
 * How time goes by in a sandbox: as it does outside, only by `advance()`, or as fast as can be, which is straight
 * to the next timer whenever nothing is under way.
 */
export type ClockMode = 'real' | 'manual' | 'fast';

/** Something that is to run at a time. */
export interface Timer {
  /** Takes it back, where it has not run yet. */
  clear(): void;
}

/** Where the time of a clock begins, and who is told that it was moved. */
export interface ClockSettings {
  readonly mode: ClockMode;
  /** Milliseconds since 1970. Default: now. */
  readonly start?: number | undefined;
  /** Told whenever the clock has moved by itself or by hand, so that it can be kept. */
  readonly onMoved?: ((now: number) => void) | undefined;
}

interface Due {
  readonly at: number;
  readonly run: () => unknown;
}

/** The time of an account, and everything in it that waits for a time. */
export class Clock {
  readonly mode: ClockMode;
  readonly #onMoved: (now: number) => void;
  /** What it is ahead of the time outside, or, where it stands still, the time. */
  #base: number;
  /** In the order in which they are due. */
  readonly #due: Due[] = [];
  #busy = 0;
  #advancing = 0;
  #wake: ReturnType<typeof setTimeout> | undefined;
  #isMoving = false;
  #isClosed = false;
  #last = { ms: 0, micros: 0 };

  constructor({ mode, start = Date.now(), onMoved = () => {} }: ClockSettings) {
    this.mode = mode;
    this.#onMoved = onMoved;
    this.#base = mode === 'real' ? start - Date.now() : start;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.mode === 'real' ? Date.now() + this.#base : this.#base;
  }

  /**
   * Now, as the service writes it. Each one is later than the one before, so that changes have an order even where
   * the clock stands still.
   */
  timestamp(): string {
    const ms = Math.max(this.now(), this.#last.ms);
    const micros = ms === this.#last.ms ? this.#last.micros + 1 : 0;
    this.#last = { ms: ms + Math.floor(micros / 1000), micros: micros % 1000 };
    return toTimestamp(this.#last.ms, this.#last.micros);
  }

  /** Runs something once it is time, at the earliest after this turn. What it gives is waited for. */
  setTimer(at: number, run: () => unknown): Timer {
    const due = { at, run };
    const place = this.#due.findLastIndex((other) => other.at <= at);
    this.#due.splice(place + 1, 0, due);
    this.#schedule();
    return {
      clear: () => {
        const place = this.#due.indexOf(due);
        if (place >= 0) this.#due.splice(place, 1);
      },
    };
  }

  /** Holds a fast clock while something is under way that takes no time of the sandbox's, such as a request. */
  async during<Result>(work: () => Promise<Result> | Result): Promise<Result> {
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
      this.#schedule();
    }
  }

  /** Moves the time ahead, and runs what is due on the way, each at its time and one after the other. */
  async advance(ms: number): Promise<void> {
    const end = this.now() + ms;
    // What a timer outside began meanwhile would not be waited for, and what it is to set would be too late.
    this.#advancing += 1;
    try {
      for (let next = this.#take(end); next; next = this.#take(end)) {
        this.#moveTo(next.at);
        await run(next);
      }
      this.#moveTo(end);
    } finally {
      this.#advancing -= 1;
      this.#schedule();
    }
  }

  /** Takes all timers back. */
  clear(): void {
    clearTimeout(this.#wake);
    this.#due.length = 0;
  }

  /** Runs nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.clear();
  }

  #take(until: number): Due | undefined {
    const [next] = this.#due;
    if (this.#isClosed || !next || next.at > until) return undefined;
    return this.#due.shift();
  }

  #moveTo(time: number): void {
    if (time <= this.now()) return;
    this.#base = this.mode === 'real' ? time - Date.now() : time;
    this.#onMoved(time);
  }

  #schedule(): void {
    clearTimeout(this.#wake);
    const [next] = this.#due;
    if (this.#isClosed || !next || this.mode === 'manual' || this.#advancing > 0) return;
    if (this.mode === 'fast' && this.#busy > 0) return;
    const waitMs = this.mode === 'fast' ? 0 : Math.min(next.at - this.now(), MAX_WAIT_MS);
    this.#wake = setTimeout(() => void this.#runDue(), Math.max(0, waitMs));
  }

  async #runDue(): Promise<void> {
    if (this.#isMoving || this.#advancing > 0) return;
    this.#isMoving = true;
    try {
      const until =
        this.mode === 'fast' && this.#busy === 0 ? Number.POSITIVE_INFINITY : this.now();
      const next = this.#take(until);
      if (next) {
        this.#moveTo(next.at);
        const ended = run(next);
        // As outside, where one that takes long holds up no other.
        if (this.mode === 'fast') await ended;
      }
    } finally {
      this.#isMoving = false;
      this.#schedule();
    }
  }
}

/** Whoever set a timer is not there any more to be told what was thrown. */
async function run(due: Due): Promise<void> {
  try {
    await due.run();
  } catch (error) {
    writeLine(`sandbox: ${describeInFull(error)}`, 'operate.md#sandbox');
  }
}

/** The longest that a timer outside is set for; then it looks again. */
const MAX_WAIT_MS = 60_000;

/** Milliseconds since 1970 as ISO 8601 with fractional seconds and a UTC offset (specification: Conventions). */
export function toTimestamp(ms: number, micros = 0): string {
  return new Date(ms).toISOString().replace('Z', `${String(micros).padStart(3, '0')}+00:00`);
}
