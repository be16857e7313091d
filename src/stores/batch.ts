export interface BatchOptions<Item> {
  /** How many items travel together at most. */
  maxItems: number;
  /** What an item adds to the size of a batch, which ends once it is over `maxSize`. */
  sizeOf?: (item: Item) => number;
  maxSize?: number;
  /** Items of one key never travel together: they are about the same row. */
  keyOf?: (item: Item) => string;
  /** How many batches are under way at once. What comes meanwhile makes the next ones larger. */
  maxRunning?: number;
}

/**
 * Gathers what comes in one turn of the event loop and, under load, while earlier batches are under way,
 * so that the cost of a call falls as the load grows.
 */
export class Batch<Item, Result> {
  readonly #run: (items: readonly Item[]) => PromiseLike<readonly Result[]> | readonly Result[];
  readonly #options: Required<BatchOptions<Item>>;
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  #scheduled = false;

  /** @param run - Gives one result for each item, in their order. */
  constructor(
    run: (items: readonly Item[]) => PromiseLike<readonly Result[]> | readonly Result[],
    options: BatchOptions<Item>,
  ) {
    this.#run = run;
    this.#options = {
      sizeOf: () => 0,
      maxSize: 0,
      keyOf: () => '',
      maxRunning: 1,
      ...options,
    };
  }
}
