import PgBoss from 'pg-boss';
import { pgBossQueue } from 'storefront-webhooks/pg-boss';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { guardEnds } from '../../../src/queues/pg-boss/ends.js';

const limited = { query_timeout: 10_000 };

describe('the completion of a job of pg-boss 10', () => {
  const stderr = vi.spyOn(console, 'warn');
  beforeEach(() => {
    stderr.mockReset();
  });
  afterEach(() => vi.useRealTimers());

  /** A database that rejects a number of statements, and records their values. */
  function down(times: number) {
    const asked: unknown[][] = [];
    const database = {
      async executeSql(_: string, values: unknown[] = []) {
        asked.push(values);
        if (asked.length <= times) throw new Error('it is down');
        return { rows: [{ count: 1 }] };
      },
    };
    return { asked, database };
  }
  const job = (id: string) => ({ id, data: {}, retryCount: 0, retryLimit: 0, retryBackoff: false });
  /** The parts of pg-boss that are read. */
  const boss10 = (database: unknown) =>
    ({ getQueueSize() {}, getDb: () => database }) as unknown as Parameters<typeof guardEnds>[0];

  test('is retried until it succeeds, and no other statement is retried', async () => {
    const { asked, database } = down(3);
    const begins = guardEnds(boss10(database));
    // Guard the same pg-boss a second time, for another queue.
    guardEnds(boss10(database))(job('b'));
    begins(job('a'));
    await expect(database.executeSql('', ['webhooks', ['c'], '{}'])).rejects.toThrow('down');
    await expect(database.executeSql('', ['webhooks', 1])).rejects.toThrow('down');
    expect(await database.executeSql('', ['webhooks', ['a'], '{}'])).toEqual({
      rows: [{ count: 1 }],
    });
    expect(asked).toHaveLength(4);
    asked.length = 0;
    // The completion of the job has succeeded.
    await expect(database.executeSql('', ['webhooks', ['a'], '{}'])).rejects.toThrow('down');
    expect(await database.executeSql('', ['webhooks', ['b'], '{}'])).toBeDefined();
  });

  test('is retried for each run of a job that runs twice, as after it has expired', async () => {
    const { asked, database } = down(1);
    const begins = guardEnds(boss10(database));
    for (let run = 0; run < 2; run++) begins(job('a'));
    const end = () => database.executeSql('', ['webhooks', ['a'], '{}']);
    for (let run = 0; run < 2; run++) {
      asked.length = 0;
      expect(await end()).toEqual({ rows: [{ count: 1 }] });
    }
    asked.length = 0;
    await expect(end()).rejects.toThrow('down');
  });

  test('runs on the connections of its database, as every other statement does', async () => {
    /** Keeps its connections to itself, as the database of pg-boss 10 does. */
    class Database {
      readonly #count = 1;
      async executeSql(_: string, __?: unknown[]) {
        return { rows: [{ count: this.#count }] };
      }
    }
    const database = new Database();
    guardEnds(boss10(database))(job('a'));
    for (const id of ['b', 'a'])
      expect(await database.executeSql('', ['webhooks', [id], '{}'])).toEqual({
        rows: [{ count: 1 }],
      });
  });

  test('is abandoned after half a minute without a rejection', async () => {
    vi.useFakeTimers();
    const { database } = down(Number.POSITIVE_INFINITY);
    guardEnds(boss10(database))(job('a'));
    const end = database.executeSql('', ['webhooks', ['a'], '{}']);
    await vi.advanceTimersByTimeAsync(35_000);
    expect(await end).toEqual({ rows: [{ count: 0 }] });
  });

  test('is logged if it cannot be retried', () => {
    guardEnds(boss10(undefined))(job('a'));
    expect(stderr).toHaveBeenCalledWith(
      expect.stringContaining('Use pg-boss 11 or later, in a schema of its own'),
    );
  });
});

describe('the limits of the connections of pg-boss 10', () => {
  const stderr = vi.spyOn(console, 'warn').mockImplementation(() => {});
  beforeEach(() => {
    stderr.mockClear();
  });
  const url = 'postgres://localhost/none';

  test.each([
    ['no limit', new PgBoss({ connectionString: url }), 1],
    ['a limit', new PgBoss({ connectionString: url, ...limited }), 0],
    ['a limit in the URL', new PgBoss({ connectionString: `${url}?query_timeout=1` }), 0],
  ])('are checked, and missing ones are logged: %s', (_, boss, lines) => {
    pgBossQueue(boss);
    expect(stderr).toHaveBeenCalledTimes(lines);
    if (lines) expect(stderr).toHaveBeenCalledWith(expect.stringContaining('query_timeout: 10000'));
  });
});
