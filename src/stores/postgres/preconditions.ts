import { UsageError } from '../../errors/errors.js';
import { optionOf } from '../size-limits.js';
import { warnOnce, warnWithoutListener } from '../warn-once.js';
import type { Row } from './client.js';
import { isPgClient, isPgPool } from './limits.js';

/** Columns that show whether the server waits for its disk; null on servers without these settings. */
export const DURABILITY = `current_setting('synchronous_commit', true) AS commits,
  current_setting('fsync', true) AS syncs`;

/**
 * Checks that a client of `pg` was connected: until then, it keeps each statement without an answer.
 *
 * @throws {UsageError} `client_invalid`
 */
export function checkConnected(client: unknown): void {
  if (!isPgClient(client)) return;
  // Both fields are private, so another version of pg may lack them.
  if (optionOf(client, '_connected') !== false || optionOf(client, '_connecting') !== false) return;
  throw new UsageError(
    'client_invalid',
    'The client of pg was never connected: await client.connect() first. Better pass a pool, which connects by ' +
      'itself and replaces lost connections: new pg.Pool({ … }).',
  );
}

/** Warns if the loss of an idle connection would end the process. */
export function warnOfClient(client: unknown): void {
  if (isPgPool(client)) warnWithoutListener(client, 'The pool of pg', 'pool');
  else if (isPgClient(client)) warnWithoutListener(client, 'The client of pg', 'client');
}

/** Warns if the server does not wait for its disk. */
export function warnOfServer(row: Row): void {
  const [setting] = ['commits', 'syncs'].filter((column) => row.maybe(column) === 'off');
  if (!setting) return;
  const name = setting === 'syncs' ? 'fsync' : 'synchronous_commit';
  warnOnce(
    `PostgreSQL does not wait for its disk (${name} is off), so after a crash it forgets the latest deliveries, ` +
      `and one can be handled twice. Set ${name} = on.`,
    'operate.md#postgres-forgets',
  );
}
