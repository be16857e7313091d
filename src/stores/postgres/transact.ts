import { UsageError } from '../../errors/errors.js';
import { pause } from '../../runtime/timing.js';
import { withoutData } from '../guard.js';
import type { StoreTransactions, Transacted, TransactTerms } from '../store.js';
import {
  endedByHandler,
  refuseSkipOlder,
  refuseStep,
  type TransactionHandler,
} from '../transactions.js';
import { isUnprepared, sqlState } from './client.js';
import { guardClient } from './guard-client.js';
import { PASSING } from './retry.js';
import type { Session } from './session.js';
import type { Sessions } from './sessions.js';
import {
  type Begun,
  begin,
  commit,
  RECORDED_NOTHING,
  readBegun,
  WAITED_TOO_LONG,
} from './transact-statements.js';
import { rolledBack } from './transaction.js';

/** How often a transaction that failed because of a concurrent one is run, at most. */
const MAX_RUNS = 3;
const PAUSE_MS = 100;

/** How the store asks for the state of a delivery after a lost answer to COMMIT. */
export type IsDone = (key: string) => Promise<boolean>;

/** Runs handlers in the transactions that record them. */
export class Transactions<Tx> implements StoreTransactions<Tx> {
  readonly refuseStep = refuseStep;
  readonly #sessions: Sessions<Tx>;
  readonly #isDone: IsDone;
  readonly #onRegistered: () => void;

  /** @param onRegistered - Called when a handler is registered, whose transactions will lock rows. */
  constructor(sessions: Sessions<Tx>, isDone: IsDone, onRegistered: () => void) {
    this.#sessions = sessions;
    this.#isDone = isDone;
    this.#onRegistered = onRegistered;
  }

  check(handler: TransactionHandler): void {
    refuseSkipOlder(handler);
    this.#onRegistered();
  }

  async run(terms: TransactTerms, work: (tx: Tx) => unknown): Promise<Transacted> {
    const endAt = performance.now() + terms.timeoutMs;
    for (let run = 1; ; run++) {
      const timeoutMs = endAt - performance.now();
      try {
        return await this.#once({ ...terms, timeoutMs }, work);
      } catch (error) {
        if (!isPassing(error) || run === MAX_RUNS || terms.signal.aborted) throw error;
        // Random, or transactions that have collided once would collide again.
        await pause(Math.random() * PAUSE_MS * 2 ** run);
      }
    }
  }

  async #once(terms: TransactTerms, work: (tx: Tx) => unknown): Promise<Transacted> {
    const { signal } = terms;
    let session: Session<Tx>;
    const { hasOthers } = this.#sessions;
    try {
      if (!hasOthers && !(await terms.begin())) return { state: 'lost' };
      session = await this.#sessions.open(terms.key);
    } catch (cause) {
      return { state: 'unavailable', cause: withoutData(cause) };
    }
    let begun: Begun;
    try {
      signal.throwIfAborted();
      if (hasOthers && !(await terms.begin())) {
        await session.rollBack();
        return { state: 'lost' };
      }
      begun = readBegun(await session.begin(begin(terms)), terms);
    } catch (cause) {
      await session.rollBack();
      if (sqlState(cause) === WAITED_TOO_LONG) return { state: 'busy' };
      if (isPassing(cause)) throw cause;
      signal.throwIfAborted();
      return { state: 'unavailable', cause: withoutData(cause) };
    }
    if (begun === 'lost' || begun === 'busy') {
      await session.rollBack();
      return { state: begun };
    }
    if (begun === 'run') await this.#work(session, signal, work);
    return this.#commit(session, terms, begun);
  }

  /** Runs the handler, at most for as long as the lease lasts, and rolls back if it fails. */
  async #work(session: Session<Tx>, signal: AbortSignal, work: (tx: Tx) => unknown): Promise<void> {
    const guard = guardClient(session.tx);
    let stop: () => void = () => {};
    const ended = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop);
    });
    try {
      // The lease may have ended while the transaction began, and would not end again.
      signal.throwIfAborted();
      await Promise.race([guard.run(work), ended]);
      signal.throwIfAborted();
    } catch (error) {
      guard.end();
      // A statement of the handler may still be running: only the end of the connection stops it.
      if (signal.aborted) session.destroy();
      else await session.rollBack();
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #commit(session: Session<Tx>, terms: TransactTerms, begun: Begun): Promise<Transacted> {
    try {
      await session.commit(commit(terms, begun === 'known'));
    } catch (cause) {
      const byHandler = causedByHandler(cause);
      if (byHandler) throw byHandler;
      // The server has rolled back, and says why. Any other error may have come after the commit.
      if (isVerdict(cause)) throw cause;
      const isDone = 'keepMs' in terms.record && (await this.#isDone(terms.key).catch(() => false));
      if (!isDone) return { state: 'unavailable', cause: withoutData(cause) };
    }
    return { state: begun === 'known' ? 'known' : 'done' };
  }
}

/** Returns the advice for an error of the last statements that what the handler ran before has caused. */
function causedByHandler(cause: unknown): UsageError | undefined {
  if (cause instanceof UsageError) return cause;
  const state = sqlState(cause);
  if (state === RECORDED_NOTHING) return endedByHandler();
  if (state === ABORTED) return rolledBack();
  return HIDDEN.test(`${state} ${cause}`) ? tableHidden(cause) : undefined;
}

/** The error of a statement after one that has failed. */
const ABORTED = '25P02';
/** The store's table is not in the search path, or the role may not write to it. */
const HIDDEN = /^(?:42P01|42501) .*\bwebhook_delivery\b/;

function tableHidden(cause: unknown): UsageError {
  return new UsageError(
    'transaction_missing',
    'The store cannot record the delivery in the transaction of the handler, because PostgreSQL does not find the ' +
      'table webhook_delivery, or does not allow it. If the handler changes search_path or the role, reset them ' +
      'before it ends.',
    { cause: withoutData(cause) },
  );
}

function isPassing(error: unknown): boolean {
  return PASSING.has(sqlState(error) ?? '') || isUnprepared(error);
}

/** Whether the server has answered that a statement failed. A server that shuts down may have committed before. */
function isVerdict(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && /^[0-9A-Z]{5}$/.test(state) && !/^(?:57P|08|25P03)/.test(state);
}
