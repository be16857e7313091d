import { hasMethods } from '../platform.js';
import { type PostgresClient, type Query, sqlState } from './client.js';
import { connectionsOf } from './limits.js';
import { ignore } from './session.js';
import type { RunsTexts } from './stay-awake.js';

/** The SQLSTATE of a write on a server that is read-only. */
const READ_ONLY = '25006';
/** The pause between two attempts, because the address may lead to the new primary only later. */
const PAUSE_MS = 1_000;
/** How many connections an attempt ends at most. */
const MOST = 100;
/** Returns no row: postgres.js would keep the place of a row that came before the end, in the next statement's rows. */
const LEAVE = 'SELECT pg_terminate_backend(pg_backend_pid()) OFFSET 1';

/**
 * Makes postgres.js connect again if its server has become a standby: by now, the address may lead to the new primary.
 * The driver has no method to do so, but connects again if the server ends a connection. A pool of `pg` discards a
 * connection after any error.
 */
export function leavingStandby(client: PostgresClient, query: Query): Query {
  // A transaction ends with its connection by itself.
  if (!hasMethods(client, 'unsafe') || !hasMethods(client, 'begin')) return query;
  let last = Number.NEGATIVE_INFINITY;
  return async (text, values, name) => {
    try {
      return await query(text, values, name);
    } catch (error) {
      if (sqlState(error) === READ_ONLY && performance.now() - last >= PAUSE_MS) {
        last = performance.now();
        // The driver sends each to another connection.
        const connections = Math.min(connectionsOf(client), MOST);
        for (let sent = 0; sent < connections; sent++) void leave(client);
      }
      throw error;
    }
  };
}

async function leave(client: RunsTexts): Promise<void> {
  await Promise.resolve(client.unsafe(LEAVE)).catch(ignore);
  // On the next connection, the driver rejects its first statement with the error that has ended this one.
  await Promise.resolve(client.unsafe('SELECT 1')).catch(ignore);
}
