import { writeLine } from '../../errors/log.js';
import type { Boss, BossDatabase, BossJob } from './boss.js';

/**
 * Longer than a restart of PostgreSQL takes. After that, pg-boss runs the job again when it expires. `boss.stop`
 * may wait as long.
 */
const GIVE_UP_MS = 30_000;
const MAX_PAUSE_MS = 2_000;

/** For each database: the running jobs by id, and how often each runs. */
const databases = new WeakMap<BossDatabase, Map<string, number>>();

/**
 * Prevents the end of a job from ending the process.
 *
 * pg-boss 10 does not await the statement that completes or fails a job. If PostgreSQL restarts, the statement
 * rejects, and the rejection is unhandled. Later versions await it. So with pg-boss 10, this function retries that
 * statement, and no other, until PostgreSQL accepts it. The job then need not wait until it expires, either.
 *
 * @returns A function to call with each job before it runs.
 */
export function guardEnds(boss: Boss): (job: BossJob) => void {
  if (waitsForEnds(boss)) return () => {};
  const database = boss.getDb?.();
  if (typeof database?.executeSql !== 'function') {
    writeLine(
      'this version of pg-boss ends the process if PostgreSQL restarts while a job ends. No delivery is lost. Use ' +
        'pg-boss 11 or later, in a schema of its own, or have the process restarted.',
      'operate.md#pg-boss-10',
      'warn',
    );
    return () => {};
  }
  const running = databases.get(database) ?? guard(database);
  databases.set(database, running);
  return ({ id }) => {
    running.set(id, (running.get(id) ?? 0) + 1);
  };
}

/**
 * Detects pg-boss 11 and later by a method that they no longer have, because pg-boss does not state its version.
 */
function waitsForEnds(boss: Boss): boolean {
  return !('getQueueSize' in boss);
}

function guard(database: BossDatabase): Map<string, number> {
  const running = new Map<string, number>();
  const executeSql = database.executeSql.bind(database);
  database.executeSql = async (text, values) => {
    const id = endOf(values);
    const times = id === undefined ? undefined : running.get(id);
    if (id === undefined || times === undefined) return executeSql(text, values);
    if (times > 1) running.set(id, times - 1);
    else running.delete(id);
    return persistently(() => executeSql(text, values));
  };
  return running;
}

/** Returns the id of the job that a statement completes or fails; `undefined` for other statements. */
function endOf(values: readonly unknown[] | undefined): string | undefined {
  const ids = values?.length === 3 ? values[1] : undefined;
  const id: unknown = Array.isArray(ids) && ids.length === 1 ? ids[0] : undefined;
  return typeof id === 'string' ? id : undefined;
}

async function persistently(run: () => Promise<{ rows: unknown[] }>): Promise<{ rows: unknown[] }> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await run();
    } catch {
      // The same result as if the job did not exist.
      if (performance.now() > giveUpAt) return { rows: [{ count: 0 }] };
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
  }
}
