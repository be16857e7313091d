import type { Change, Journal } from './journal.js';

/**
 * Makes the changes of an account in transactions. All changes of a transaction are in the journal before its
 * callbacks run; otherwise no change is made.
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
   * Runs work in a transaction; within another transaction, the work joins it. The work is synchronous, so that
   * no other change comes between. If the work or the journal throws, all changes are undone.
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

  /** Runs a callback after the transaction is stored, such as sending its webhooks. */
  afterwards(run: () => void): void {
    this.transact(() => this.#afterwards.push(run));
  }

  /** Adds a change to the transaction, with the function that undoes it. */
  add(change: Omit<Change, 'account'>, undo: () => void): void {
    this.transact(() => {
      this.#open?.undo.push(undo);
      this.#open?.changes.push({ account: this.#account, ...change });
    });
  }
}
