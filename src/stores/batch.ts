import { WebhookError } from '../errors/errors.js';
import { CALL_MS } from '../runtime/timing.js';
import { atEndOfTurn } from '../runtime/turn.js';

export interface BatchOptions<Item, Result> {
  /** How many batches run at once. Items that arrive meanwhile go into the next batch. */
  readonly maxRunning: number;
  /** The most items of a batch. */
  readonly maxItems: number;
  /** The largest total size of a batch. A single item may be larger. */
  readonly maxSize: number;
  readonly sizeOf: (item: Item) => number;
  /** How long items wait before they share a batch; until then, each has its own. Default: 0. */
  readonly aloneMs?: number;
  /** Items with the same key never share a batch. Default: any items may. */
  readonly keyOf?: (item: Item) => string;
  /** Returns the result of an item that is no longer wanted when its turn comes. Such an item is not sent. */
  readonly dropped?: (item: Item) => Result | undefined;
  /** Returns whether a single item may have caused the error. If so, each item is retried alone. */
  readonly isFaultOfOne?: (error: unknown) => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly since: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines the calls of one turn of the event loop, and under load also those that arrive while earlier batches
 * run. The cost of a call falls as the load grows.
 */
export class Batch<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #options: BatchOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  #isScheduled = false;

  /** @param run - Returns a result for each item, in the same order. */
  constructor(
    run: (items: readonly Item[]) => Promise<readonly Result[]>,
    options: BatchOptions<Item, Result>,
  ) {
    this.#run = run;
    this.#options = options;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, since: performance.now(), resolve, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      atEndOfTurn(() => {
        this.#isScheduled = false;
        this.#start();
      });
    });
  }

  #start(): void {
    while (this.#running < this.#options.maxRunning) {
      const batch = this.#take();
      if (batch.length === 0) return;
      this.#running += 1;
      let isUnderWay = true;
      const makeRoom = () => {
        if (!isUnderWay) return;
        isUnderWay = false;
        this.#running -= 1;
        this.#start();
      };
      // A batch that hangs must not block the next ones forever. Late results still count.
      const late = setTimeout(makeRoom, CALL_MS);
      void this.#send(batch).finally(() => {
        clearTimeout(late);
        makeRoom();
      });
    }
  }

  /** Sends a batch, and settles its items. Never rejects. */
  async #send(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('The database returned too few rows.');
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result);
      });
    } catch (error) {
      if (batch.length > 1 && this.#options.isFaultOfOne?.(error)) {
        for (const one of batch.filter(isWaitedFor)) await this.#send([one]);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  #maxItems(): number {
    const { maxItems, aloneMs = 0 } = this.#options;
    const [oldest] = this.#waiting;
    const isLate = oldest !== undefined && performance.now() - oldest.since >= aloneMs;
    return isLate ? maxItems : 1;
  }

  #take(): Waiting<Item, Result>[] {
    const { maxSize, sizeOf, keyOf, dropped } = this.#options;
    const maxItems = this.#maxItems();
    const batch: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    const keys = new Set<string>();
    let size = 0;
    for (const waiting of this.#waiting.filter(isWaitedFor)) {
      const key = keyOf?.(waiting.item);
      const itemSize = sizeOf(waiting.item);
      const fits =
        batch.length === 0 ||
        (batch.length < maxItems &&
          size + itemSize <= maxSize &&
          (key === undefined || !keys.has(key)));
      if (!fits) {
        left.push(waiting);
        continue;
      }
      const result = dropped?.(waiting.item);
      if (result !== undefined) {
        waiting.resolve(result);
        continue;
      }
      if (key !== undefined) keys.add(key);
      size += itemSize;
      batch.push(waiting);
    }
    this.#waiting = left;
    return batch;
  }
}

/**
 * Returns whether an item is still waited for. Rejects it, so that it is not sent, if it has waited for too long.
 */
function isWaitedFor({ since, reject }: Waiting<unknown, never>): boolean {
  if (performance.now() - since < CALL_MS) return true;
  reject(new WebhookError('timed_out', `The call waited ${CALL_MS} ms for its turn.`));
  return false;
}
