import { UsageError } from '../../errors/errors.js';
import { hasMethods } from '../../stores/platform.js';
import type { BossDatabase } from './boss.js';

/**
 * Your own transaction: a client of `pg` after `BEGIN`, or an object that pg-boss takes as `db`, such as one from
 * its adapters for other drivers.
 */
export type BossTransaction =
  | BossDatabase
  | { query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };

/** @throws {UsageError} `transaction_missing` */
export function toOptions(tx: BossTransaction | undefined): { db?: BossDatabase } {
  if (tx === undefined) return {};
  if (hasMethods(tx, 'executeSql')) return { db: tx };
  // A pool also has query(), but each of its statements may run on another connection.
  if (hasMethods(tx, 'query') && !('totalCount' in tx))
    return {
      db: {
        executeSql: async (text, values) => {
          const answer: unknown = await tx.query(text, values);
          // TypeORM returns the rows themselves.
          return Array.isArray(answer) ? { rows: answer } : (answer as { rows: unknown[] });
        },
      },
    };
  throw new UsageError(
    'transaction_missing',
    'tx has to be a client of pg (not the pool), or an object that pg-boss takes as db: { executeSql(text, values) }.',
  );
}
