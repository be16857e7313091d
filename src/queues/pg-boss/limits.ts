import { writeLine } from '../../report/log.js';
import type { Boss } from './boss.js';

/**
 * Says in one line on stderr that the connections of pg-boss can fall silent for ever: `pg` waits for an answer
 * as long as the peer keeps the connection open, and each call that hangs keeps one of them.
 */
export function warnWithoutLimits(boss: Boss): void {
  const database: object | undefined = boss.getDb?.();
  // Nothing is known of a database that is not pg-boss's own.
  const config = database && 'config' in database ? database.config : undefined;
  if (typeof config !== 'object' || config === null) return;
  const { query_timeout, connectionString = '' }: Settings = config;
  if (Number(query_timeout) > 0 || /[?&]query_timeout=/.test(`${connectionString}`)) return;
  writeLine(
    'the connections of pg-boss have no query_timeout. Where they fall silent, every delivery is answered 503 ' +
      'until this process is started again: new PgBoss({ connectionString, query_timeout: 10000, … }), which ' +
      'it hands on to pg.',
    'operate.md#no-time-limit',
    'warn',
  );
}

interface Settings {
  readonly query_timeout?: unknown;
  readonly connectionString?: unknown;
}
