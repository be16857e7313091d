import { PgBoss } from 'pg-boss';
import PgBoss10 from 'pg-boss10';

/** A short interval for maintenance, so that a dead worker is noticed soon. */
const QUICK = {
  10: { maintenanceIntervalSeconds: 1 },
  12: { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 },
};

export type BossVersion = keyof typeof QUICK;

/** A pg-boss of the given version, with its own tables, so that both versions can share a database. */
export function newBoss(version: BossVersion, connectionString: string): PgBoss | PgBoss10 {
  const options = { connectionString, schema: `boss${version}`, schedule: false };
  // Connections that the server drops.
  const ignore = () => {};
  return version === 10
    ? new PgBoss10({ ...options, ...QUICK[10] }).on('error', ignore)
    : new PgBoss({ ...options, ...QUICK[12] }).on('error', ignore);
}
