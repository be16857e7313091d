import { type Call, toExecute, toPrepare, toText } from './calls.js';
import { isUnprepared } from './client.js';
import { STATEMENTS } from './transact-statements.js';

/** Which connections of a pool have the statements of transactions prepared. */
export class PreparedCalls {
  #isOn: boolean;
  readonly #connections = new WeakSet<object>();

  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  /** Returns what prepares a connection at its first transaction, and the text of the calls. */
  begin(
    connection: object,
    calls: readonly Call[],
  ): { readonly before: string; readonly text: string } {
    const isNew = this.#isOn && !this.#connections.has(connection);
    if (isNew) this.#connections.add(connection);
    const before = isNew ? STATEMENTS.map((statement) => `${toPrepare(statement)}; `).join('') : '';
    return { before, text: this.text(connection, calls) };
  }

  text(connection: object, calls: readonly Call[]): string {
    const isPrepared = this.#isOn && this.#connections.has(connection);
    return calls.map(isPrepared ? toExecute : toText).join('; ');
  }

  /** Throws the error of a text. Prepares nothing from now on if a pooler is the reason. */
  failed(error: unknown): never {
    if (isUnprepared(error)) this.#isOn = false;
    throw error;
  }
}
