import { writeLine } from '../../report/log.js';
import type { Boss, BossDatabase, BossJob } from './boss.js';

/** Longer than a restart takes. After that the job is given out again at its expiry; `boss.stop` may wait as long. */
const GIVE_UP_MS = 30_000;
const MAX_PAUSE_MS = 2_000;

/** The jobs that are running, and how often each of them, by the database to which their end is told. */
const databases = new WeakMap<BossDatabase, Map<string, number>>();

/**
 * Sees to it that the end of a job cannot end the process.
 *
 * pg-boss 10 does not wait for the statement that completes or fails a job. When PostgreSQL restarts it
 * rejects, and nobody is there to catch it. Later versions wait. So here that statement, and no other, is
 * tried again until PostgreSQL has taken it: the job need not wait for its expiry, either.
 *
 * @returns To be called with each job before it is run.
 */
export function guardEnds(boss: Boss): (job: BossJob) => void {
  if (waitsForEnds(boss)) return () => {};
  const database = boss.getDb?.();
  if (typeof database?.executeSql !== 'function') {
    writeLine(
      'this version of pg-boss ends the process when PostgreSQL restarts while a job ends. Use pg-boss 11 ' +
        'or later, or start the process again when it has ended: no delivery is lost.',
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

/** By a method that pg-boss 11 has no more: it does not tell its version. */
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

/** The job that a statement completes or fails. */
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
      // It gives what it would have given had there been no such job.
      if (performance.now() > giveUpAt) return { rows: [{ count: 0 }] };
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
  }
}
