import { WebhookError } from '../errors.js';
import { atEndOfTurn, CALL_MS } from '../timing.js';

export interface BatchOptions<Item> {
  /** How many batches are under way at once. What comes meanwhile makes the next one larger. */
  readonly maxRunning: number;
  /** How many items travel together. */
  readonly maxItems: number;
  /** How large they may be together, unless it is a single one. */
  readonly maxSize: number;
  readonly sizeOf: (item: Item) => number;
  /** Items of one key never travel together. Default: any may. */
  readonly keyOf?: (item: Item) => string;
  /** Whether an error may be the fault of a single item: then each of them travels alone. */
  readonly isFaultOfOne?: (error: unknown) => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly since: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers the calls of one turn of the event loop, and under load those that come while earlier batches
 * are under way: the cost of a call falls as the load grows.
 */
export class Batch<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #options: BatchOptions<Item>;
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  #isScheduled = false;

  /** @param run - Gives a result for each item, in their order. */
  constructor(
    run: (items: readonly Item[]) => Promise<readonly Result[]>,
    options: BatchOptions<Item>,
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
      // One that hangs must not hold up the next ones for ever. Its results count whenever they come.
      const late = setTimeout(makeRoom, CALL_MS);
      void this.#send(batch).finally(() => {
        clearTimeout(late);
        makeRoom();
      });
    }
  }

  /** Never rejects. */
  async #send(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('The database gave too few rows back.');
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

  #take(): Waiting<Item, Result>[] {
    const { maxItems, maxSize, sizeOf, keyOf } = this.#options;
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
      if (key !== undefined) keys.add(key);
      size += itemSize;
      batch.push(waiting);
    }
    this.#waiting = left;
    return batch;
  }
}

/** Nobody waits any more for what has waited for too long: it is not sent at all. */
function isWaitedFor({ since, reject }: Waiting<unknown, never>): boolean {
  if (performance.now() - since < CALL_MS) return true;
  reject(new WebhookError('timed_out', `Too much was waiting for ${CALL_MS} ms.`));
  return false;
}
