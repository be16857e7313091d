import type { Call } from './calls.js';
import type { Row } from './client.js';

/** The rows of each statement. */
export type Results = readonly (readonly Row[])[];

/** A transaction on a connection of its own. Exactly one of `commit`, `rollBack` and `destroy` ends it. */
export interface Session<Tx> {
  readonly tx: Tx;
  /** Begins the transaction and runs statements, in one trip where the driver can. */
  begin(calls: readonly Call[]): Promise<Results>;
  /** Runs statements and commits, if none of them fails. */
  commit(calls: readonly Call[]): Promise<void>;
  rollBack(): Promise<void>;
  /** Gives the connection up: the server rolls back, at the latest after its time limit. */
  destroy(): void;
}

export type Open<Tx> = () => Promise<Session<Tx>>;

export function ignore(): void {}
