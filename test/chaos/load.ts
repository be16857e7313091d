import type { Deadline } from './deadline.js';
import { copiesOf, type Sender, type Sent } from './sender.js';

/** The number of deliveries that are sent for the first time at the same time. */
const CONCURRENCY = 40;
/** No new delivery is sent while this many wait for a retry. */
const MAX_STUCK = 250;
const TURN_MS = 5;
const oneByOne = () => 1;
const ONCE = { atOnce: 1, later: false };

/** Retries until the answer is a success. Returns whether it is. */
export type DeliverOne = (what: string | Sent) => Promise<boolean>;

export interface LoadOptions {
  /** The prefix of the ids. */
  readonly prefix: string;
  readonly seed: number;
  readonly deadline: Deadline;
  /** Returns how many deliveries may start in a turn, given the number so far; 0 ends the load. Default: one. */
  readonly pace?: (sent: number) => number;
  /** How long open deliveries may take at the end before they are given up. Default: until the deadline. */
  readonly settleMs?: number;
  /** Whether each delivery is sent once. Default: some are sent several times, at once and later. */
  readonly isSentOnce?: boolean;
  /** Sends the deliveries of an id. Default: one delivery, in several copies. */
  readonly send?: (id: string, deliverOne: DeliverOne) => Promise<boolean[]>;
  readonly onTurn?: () => void;
}

/** Deliveries one after another, each in its copies, and retried until the answer is a success. */
export class Load {
  readonly #sender: Sender;
  readonly #options: LoadOptions;
  readonly #open = new Set<string>();
  readonly #stuck = new Set<string>();
  #isEnding = false;
  #isGivenUp = false;
  #failure: unknown;
  /** All sent deliveries. */
  readonly ids: string[] = [];
  /** Deliveries of which every copy got a success in the end. */
  readonly answered = new Set<string>();

  constructor(sender: Sender, options: LoadOptions) {
    this.#sender = sender;
    this.#options = options;
  }

  get open(): number {
    return this.#open.size;
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** Delivers while `action` is running. The action has to end when the load is given up. */
  async runBeside(action: () => Promise<void>): Promise<void> {
    const acting = action().finally(() => {
      this.#isEnding = true;
    });
    try {
      await Promise.all([this.run(), acting]);
    } finally {
      this.giveUp();
      await acting.catch(() => {});
    }
  }

  /** Resolves when all deliveries are answered or given up. */
  async run(): Promise<void> {
    const {
      pace = oneByOne,
      deadline,
      settleMs = Number.POSITIVE_INFINITY,
      onTurn,
    } = this.#options;
    let giveUpAt = Number.POSITIVE_INFINITY;
    for (;;) {
      if (this.#failure) throw this.#failure;
      deadline.check(() => `${this.open} deliveries are open.`);
      const most = this.#isEnding ? 0 : pace(this.ids.length);
      if (most === 0) {
        if (this.open === 0) return;
        giveUpAt = Math.min(giveUpAt, performance.now() + settleMs);
        if (performance.now() > giveUpAt) return this.giveUp();
      }
      for (let left = most; left > 0 && this.#hasRoom(); left--) {
        this.#deliver(this.ids.length).catch((error: unknown) => {
          this.#failure = error;
        });
      }
      await new Promise((resolve) => setTimeout(resolve, TURN_MS));
      onTurn?.();
    }
  }

  /** Ends all retries. */
  giveUp(): void {
    this.#isGivenUp = true;
  }

  #hasRoom(): boolean {
    return this.open - this.#stuck.size < CONCURRENCY && this.#stuck.size < MAX_STUCK;
  }

  async #deliver(index: number): Promise<void> {
    const { prefix, send } = this.#options;
    const id = `${prefix}${index}`;
    this.ids.push(id);
    this.#open.add(id);
    const deliverOne = (what: string | Sent) =>
      this.#sender.deliver(
        what,
        () => this.#isGivenUp,
        () => this.#stuck.add(id),
      );
    const answers = await (send?.(id, deliverOne) ?? this.#sendCopies(id, index, deliverOne));
    if (answers.every(Boolean)) this.answered.add(id);
    this.#stuck.delete(id);
    this.#open.delete(id);
  }

  async #sendCopies(id: string, index: number, deliverOne: DeliverOne): Promise<boolean[]> {
    const { seed, isSentOnce = false } = this.#options;
    const { atOnce, later } = isSentOnce ? ONCE : copiesOf(seed, index);
    const copies = await Promise.all(Array.from({ length: atOnce }, () => deliverOne(id)));
    if (later) copies.push(await deliverOne(id));
    return copies;
  }
}
