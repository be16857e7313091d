import { type Query, sqlState } from './client.js';

/** The statement was rolled back for the sake of another: serialization failure, deadlock, lock time-out. */
const PASSING = new Set(['40001', '40P01', '55P03']);
const MAX_RETRIES = 5;
const PAUSE_MS = 10;

/** Tries a statement again that has lost against another. Not for use inside a transaction. */
export function retrying(query: Query): Query {
  return async (text, values, name) => {
    for (let retry = 1; retry <= MAX_RETRIES; retry++) {
      try {
        return await query(text, values, name);
      } catch (error) {
        if (!PASSING.has(sqlState(error) ?? '')) throw error;
        // Random, or those who met once would meet again.
        await pause(Math.random() * PAUSE_MS * 2 ** retry);
      }
    }
    return query(text, values, name);
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
