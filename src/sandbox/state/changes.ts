import type { Change, Journal } from './journal.js';

/**
 * The changes of an account, in transactions: all changes of one are in the journal before anybody is told,
 * or none has been made.
 */
export class Changes {
  readonly #account: string;
  readonly #journal: Journal | undefined;
  #open: { readonly changes: Change[]; readonly undo: (() => void)[] } | undefined;
  #afterwards: (() => void)[] = [];

  constructor(account: string, journal: Journal | undefined) {
    this.#account = account;
    this.#journal = journal;
  }

  /**
   * Makes changes that belong together. The work is synchronous, so that nothing comes between; within a
   * transaction, it joins that one. Where it throws, all of its changes are undone.
   */
  transact<Result>(work: () => Result): Result {
    if (this.#open) return work();
    const open = { changes: [], undo: [] as (() => void)[] };
    this.#open = open;
    let result: Result;
    try {
      result = work();
      if (open.changes.length > 0) this.#journal?.write(open.changes);
    } catch (error) {
      for (const undo of open.undo.reverse()) undo();
      this.#afterwards = [];
      throw error;
    } finally {
      this.#open = undefined;
    }
    for (const run of this.#afterwards.splice(0)) run();
    return result;
  }

  /** Has something run once the transaction is kept: what the world outside is told. */
  afterwards(run: () => void): void {
    this.transact(() => this.#afterwards.push(run));
  }

  /** Adds a change that was made to the transaction, and how to undo it. */
  add(change: Omit<Change, 'account'>, undo: () => void): void {
    this.transact(() => {
      this.#open?.undo.push(undo);
      this.#open?.changes.push({ account: this.#account, ...change });
    });
  }
}
