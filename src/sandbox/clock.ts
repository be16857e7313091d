import { writeLine } from '../errors/log.js';
import { describeInFull } from '../errors/text.js';
import { soon } from '../runtime/turn.js';

/**
 * How time passes in a sandbox: `real` follows the machine's clock, `manual` moves only by `advance()`, and
 * `fast` jumps to the next timer whenever nothing is in progress.
 */
export type ClockMode = 'real' | 'manual' | 'fast';

/** Work that is scheduled for a time. */
export interface Timer {
  /** Cancels the work if it has not run yet. */
  clear(): void;
}

/** The mode and start of a clock, and a callback for its moves. */
export interface ClockSettings {
  readonly mode: ClockMode;
  /** Milliseconds since 1970. Default: now. */
  readonly start?: number | undefined;
  /** The timestamp that the next one has to follow. Default: none. */
  readonly last?: string | undefined;
  /**
   * Called with the new time when the clock jumps, by itself or by `advance()`, so that the account can store
   * it.
   */
  readonly onMoved?: ((now: number) => void) | undefined;
}

interface Due {
  readonly at: number;
  readonly run: () => unknown;
}

/** The clock of an account, with its timers. */
export class Clock {
  readonly mode: ClockMode;
  readonly #onMoved: (now: number) => void;
  /** The lead over the machine's clock; in the modes `manual` and `fast`, the time itself. */
  #base: number;
  /** Sorted by due time. */
  readonly #due: Due[] = [];
  #busy = 0;
  #advancing = 0;
  #cancelWake = () => {};
  #isMoving = false;
  #isClosed = false;
  #last: { readonly ms: number; readonly micros: number };

  constructor({ mode, start = Date.now(), last, onMoved = () => {} }: ClockSettings) {
    this.mode = mode;
    this.#onMoved = onMoved;
    this.#last = last === undefined ? { ms: 0, micros: 0 } : fromTimestamp(last);
    this.#base = mode === 'real' ? start - Date.now() : start;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.mode === 'real' ? Date.now() + this.#base : this.#base;
  }

  /**
   * Returns the time as the service writes it. Each timestamp is later than the one before, so that changes have
   * an order even if the clock stands still.
   */
  timestamp(): string {
    const ms = Math.max(this.now(), this.#last.ms);
    const micros = ms === this.#last.ms ? this.#last.micros + 1 : 0;
    this.#last = { ms: ms + Math.floor(micros / 1000), micros: micros % 1000 };
    return toTimestamp(this.#last.ms, this.#last.micros);
  }

  /** Returns the dates of a record that is created now. */
  dates(): { readonly created_at: string; readonly updated_at: string } {
    const now = this.timestamp();
    return { created_at: now, updated_at: now };
  }

  /**
   * Schedules `run` for a time, at the earliest after this turn of the event loop. `advance()` and a fast clock
   * await what `run` returns. A time after the year 9999 never comes.
   */
  setTimer(at: number, run: () => unknown): Timer {
    if (!(at < END)) return { clear() {} };
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

  /**
   * Runs work that takes no time in the sandbox, such as answering a request. A fast clock stands still
   * meanwhile.
   */
  async during<Result>(work: () => Promise<Result> | Result): Promise<Result> {
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
      this.#schedule();
    }
  }

  /**
   * Moves the time ahead, and runs the timers that are due on the way, each at its time and one after the other.
   */
  async advance(ms: number): Promise<void> {
    const end = this.now() + ms;
    // Keeps #runDue() out: this loop would not await the work that it starts, and timers which that work sets
    // would come too late.
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

  /** Cancels all timers. */
  clear(): void {
    this.#cancelWake();
    this.#due.length = 0;
  }

  /** Cancels all timers, and runs no timer that is set later. */
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
    this.#cancelWake();
    const [next] = this.#due;
    if (this.#isClosed || !next || this.mode === 'manual' || this.#advancing > 0) return;
    if (this.mode === 'fast' && this.#busy > 0) return;
    const wake = () => void this.#runDue();
    if (this.mode === 'fast') {
      this.#cancelWake = soon(wake);
      return;
    }
    const waitMs = Math.min(next.at - this.now(), MAX_WAIT_MS);
    const timer = setTimeout(wake, Math.max(0, waitMs));
    this.#cancelWake = () => clearTimeout(timer);
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
        // With a real clock, a slow timer does not hold up the next one.
        if (this.mode === 'fast') await ended;
      }
    } finally {
      this.#isMoving = false;
      this.#schedule();
    }
  }
}

/** Runs a timer, and logs its error: no caller is left to receive it. */
async function run(due: Due): Promise<void> {
  try {
    await due.run();
  } catch (error) {
    writeLine(`sandbox: ${describeInFull(error)}`, 'operate.md#sandbox');
  }
}

/** From this year on, a timestamp has a sign and more digits, and in the end no `Date` holds the time. */
const END = Date.UTC(10_000, 0);

/** The longest wait of a Node.js timer, in milliseconds. After it, the clock checks again. */
const MAX_WAIT_MS = 60_000;

/**
 * Formats milliseconds since 1970 as ISO 8601 with fractional seconds and a UTC offset (specification:
 * Conventions).
 */
export function toTimestamp(ms: number, micros = 0): string {
  return new Date(ms).toISOString().replace('Z', `${String(micros).padStart(3, '0')}+00:00`);
}

/** Reads what {@link toTimestamp} has written. */
function fromTimestamp(text: string): { readonly ms: number; readonly micros: number } {
  return { ms: Date.parse(`${text.slice(0, 23)}Z`), micros: Number(text.slice(23, 26)) };
}
