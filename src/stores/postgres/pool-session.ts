import { WebhookError } from '../../errors/errors.js';
import { SILENCE_MS } from '../guard.js';
import type { Call } from './calls.js';
import { toRows } from './client.js';
import type { PreparedCalls } from './prepared-calls.js';
import { ignore, type Results, type Session } from './session.js';
import type { PgPool, PgPoolClient } from './transaction.js';

export function openPool<Tx>(pool: PgPool<Tx>, prepared: PreparedCalls): Promise<Session<Tx>> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    // The pool of a user may have no limit of its own.
    const late = setTimeout(() => {
      isLate = true;
      reject(new WebhookError('timed_out', `The pool gave no connection within ${SILENCE_MS} ms.`));
    }, SILENCE_MS);
    // A callback, because a promise would continue a moment later, and an error of the connection in between would
    // have no listener.
    pool.connect((error, tx, release) => {
      clearTimeout(late);
      if (!tx) reject(error);
      else if (isLate) release();
      else resolve(new PoolSession(tx, release, prepared));
    });
  });
}

class PoolSession<Tx> implements Session<Tx> {
  readonly tx: Tx & PgPoolClient;
  readonly #release: (destroy?: boolean) => void;
  readonly #prepared: PreparedCalls;

  constructor(
    tx: Tx & PgPoolClient,
    release: (destroy?: boolean) => void,
    prepared: PreparedCalls,
  ) {
    this.tx = tx;
    this.#release = release;
    this.#prepared = prepared;
    // The pool does not listen to a client that it has lent, and an error without a listener ends the process. The
    // queries on the connection also reject.
    tx.on('error', ignore);
  }

  begin(calls: readonly Call[]): Promise<Results> {
    const { before, text } = this.#prepared.begin(this.tx, calls);
    return this.#run(`${before}BEGIN; ${text}`);
  }

  async #run(text: string): Promise<Results> {
    const query = this.tx.query({ text, query_timeout: SILENCE_MS });
    const results: unknown = await query.catch((error) => this.#prepared.failed(error));
    return (Array.isArray(results) ? results : [results]).map((one) => toRows(one));
  }

  async commit(calls: readonly Call[]): Promise<void> {
    try {
      await this.#run(`${this.#prepared.text(this.tx, calls)}; COMMIT`);
      this.#end(false);
    } catch (error) {
      this.#end(true);
      throw error;
    }
  }

  async rollBack(): Promise<void> {
    try {
      await this.#run('ROLLBACK');
      this.#end(false);
    } catch {
      this.#end(true);
    }
  }

  destroy(): void {
    this.#end(true);
  }

  #end(destroy: boolean): void {
    this.tx.removeListener('error', ignore);
    try {
      this.#release(destroy);
    } catch {}
  }
}
