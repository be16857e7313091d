import { pause } from '../../runtime/timing.js';
import { type Query, sqlState } from './client.js';

/**
 * Errors of a statement that failed because of a concurrent one: serialization failure, deadlock, lock time-out.
 */
export const PASSING: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);
/** Those of {@link PASSING} that do not come from a wait for a lock. */
export const COLLIDED: ReadonlySet<string> = new Set(['40001', '40P01']);
const MAX_RETRIES = 5;
const PAUSE_MS = 10;

/**
 * Retries a statement that failed because of a concurrent one. Do not use it inside a transaction.
 *
 * @param passing - The errors after which it retries.
 */
export function retrying(query: Query, passing = PASSING): Query {
  return async (text, values, name) => {
    for (let retry = 1; retry <= MAX_RETRIES; retry++) {
      try {
        return await query(text, values, name);
      } catch (error) {
        if (!passing.has(sqlState(error) ?? '')) throw error;
        // Random, or statements that have collided once would collide again.
        await pause(Math.random() * PAUSE_MS * 2 ** retry);
      }
    }
    return query(text, values, name);
  };
}
