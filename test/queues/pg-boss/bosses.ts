import PgBoss10 from 'pg-boss';
import { loadPgBoss12 } from './boss12.js';

/** A short interval for maintenance, so that a dead worker is noticed soon. */
const QUICK = {
  10: { maintenanceIntervalSeconds: 1 },
  12: { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 },
};

export type BossVersion = keyof typeof QUICK;

/**
 * A pg-boss of this or that version, with tables of its own: both may share a database.
 *
 * @param Boss10 - The class of another pg-boss 10.
 */
export async function newBoss(
  version: BossVersion,
  connectionString: string,
  Boss10 = PgBoss10,
): Promise<PgBoss10> {
  const options = { connectionString, schema: `boss${version}`, schedule: false };
  // Connections that the server drops.
  const ignore = () => {};
  if (version === 10) return new Boss10({ ...options, ...QUICK[10] }).on('error', ignore);
  const { PgBoss } = await loadPgBoss12();
  return new PgBoss({ ...options, ...QUICK[12] }).on('error', ignore);
}
