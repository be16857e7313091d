import { SILENCE_MS } from '../guard.js';

/** The calls on one connection, and how long the connection has been silent. */
export class Lane {
  #waiting = 0;
  /** When the connection became silent: the start of the first call since which no call was answered. */
  #since: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wake: (() => void)[] = [];
  readonly #onSilence: () => void;

  /** @param onSilence - Called after each {@link SILENCE_MS} without a reply. */
  constructor(onSilence: () => void = () => {}) {
    this.#onSilence = onSilence;
  }

  get silentMs(): number {
    return this.#since === undefined ? 0 : performance.now() - this.#since;
  }

  async run<Reply>(call: () => Promise<Reply>): Promise<Reply> {
    this.#waiting += 1;
    this.#listen();
    let isOver = true;
    try {
      return await call();
    } catch (error) {
      // After its `commandTimeout`, ioredis gives up the call, but keeps the connection.
      isOver = !(error instanceof Error && error.message === 'Command timed out');
      throw error;
    } finally {
      this.#waiting -= 1;
      if (isOver) this.#end();
    }
  }

  /** Resolves with the next reply, or the end of the connection. */
  reply(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #listen(): void {
    this.#since ??= performance.now();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#onSilence();
      if (this.#waiting > 0) this.#listen();
    }, SILENCE_MS);
    // The timer must not keep the process alive. On other runtimes than Node, a timer is a number.
    this.#timer.unref?.();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#since = undefined;
    for (const resolve of this.#wake.splice(0)) resolve();
    if (this.#waiting > 0) this.#listen();
  }
}

/** The lanes of a client, by the name of the connection that serves the first key of a call. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #nameOf: (keys: readonly string[]) => string;
  readonly #onSilence: (() => void) | undefined;

  constructor(nameOf: (keys: readonly string[]) => string, onSilence?: () => void) {
    this.#nameOf = nameOf;
    this.#onSilence = onSilence;
  }

  of(keys: readonly string[]): Lane {
    const name = this.#nameOf(keys);
    const lane = this.#lanes.get(name) ?? new Lane(this.#onSilence);
    this.#lanes.set(name, lane);
    return lane;
  }
}
