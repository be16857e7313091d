/** Reports a part that takes far longer than it should, and ends the run. */
export class Deadline {
  readonly #at: number;
  readonly #what: string;

  constructor(what: string, ms: number) {
    this.#what = what;
    this.#at = performance.now() + ms;
  }

  check(state: () => string = () => ''): void {
    if (performance.now() > this.#at) {
      throw new Error(`${this.#what} is not done within its time limit. ${state()}`);
    }
  }

  /** Rejects when the time is over. */
  async limit<Value>(promise: Promise<Value>): Promise<Value> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`${this.#what} is not done within its time limit.`)),
        Math.max(0, this.#at - performance.now()),
      );
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
