import { writeLine } from '../../errors/log.js';
import type { Boss } from './boss.js';

/**
 * Warns on stderr, in one line, if the connections of pg-boss have no time limit. `pg` waits for an answer as long
 * as the peer keeps the connection open, and each call that hangs occupies a connection.
 */
export function warnWithoutLimits(boss: Boss): void {
  const database: object | undefined = boss.getDb?.();
  // Only the options of pg-boss's own database are known.
  const config = database && 'config' in database ? database.config : undefined;
  if (typeof config !== 'object' || config === null) return;
  const { query_timeout, connectionString = '' }: Settings = config;
  if (Number(query_timeout) > 0 || /[?&]query_timeout=/.test(`${connectionString}`)) return;
  writeLine(
    'the connections of pg-boss have no query_timeout. If they fall silent, every delivery is answered 503 ' +
      'until this process restarts. Set one: new PgBoss({ connectionString, query_timeout: 10000, … }), which ' +
      'passes it on to pg.',
    'operate.md#no-time-limit',
    'warn',
  );
}

interface Settings {
  readonly query_timeout?: unknown;
  readonly connectionString?: unknown;
}
