import { PgBoss } from 'pg-boss';
import PgBoss10 from 'pg-boss10';

/** How soon what has to be done now and then is done: a worker that has died is noticed. */
const QUICK = {
  10: { maintenanceIntervalSeconds: 1 },
  12: { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 },
};

export type BossVersion = keyof typeof QUICK;

/** A pg-boss of this or that version, with tables of its own: both may share a database. */
export function newBoss(version: BossVersion, connectionString: string): PgBoss | PgBoss10 {
  const options = { connectionString, schema: `boss${version}`, schedule: false };
  // Connections that a server drops.
  const ignore = () => {};
  return version === 10
    ? new PgBoss10({ ...options, ...QUICK[10] }).on('error', ignore)
    : new PgBoss({ ...options, ...QUICK[12] }).on('error', ignore);
}
