import type { D1Client, D1Statement } from './database.js';
import { bind } from './statement.js';

/** The shortest time between two purges, and the most rows of a purge. */
const PURGE_MS = 60_000;
const PURGE_LIMIT = 500;

type Results = readonly { readonly results: unknown[] }[];

/** Purges together with a completion: a Worker may end when it answers, and cuts off work that is not awaited. */
export class Purge {
  readonly #database: D1Client;
  readonly #everyMs: number;
  #at = Number.NEGATIVE_INFINITY;

  /** @param everyMs - The shortest time between two purges. */
  constructor(database: D1Client, everyMs = PURGE_MS) {
    this.#database = database;
    this.#everyMs = everyMs;
  }

  /** Runs the statements of a completion in one batch, with a purge if one is due. */
  async runWith(...statements: readonly [D1Statement, ...D1Statement[]]): Promise<Results> {
    const now = Date.now();
    const isDue = now - this.#at > this.#everyMs;
    if (!isDue && statements.length === 1) return [await statements[0].all()];
    if (!isDue) return this.#database.batch([...statements]);
    this.#at = now;
    const results = await this.#database.batch([
      ...statements,
      bind(this.#database, 'abandon', [PURGE_LIMIT]),
      bind(this.#database, 'forget', [PURGE_LIMIT]),
    ]);
    const [abandoned = 0, forgotten = 0] = results.slice(-2).map((purged) => purged.results.length);
    // More is left.
    if (abandoned + forgotten >= PURGE_LIMIT) this.#at = Number.NEGATIVE_INFINITY;
    return results;
  }
}
