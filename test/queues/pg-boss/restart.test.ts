import { PgBoss } from 'pg-boss';
import PgBoss10 from 'pg-boss10';
import { pgBossQueue } from 'storefront-webhooks/pg-boss';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { guardEnds } from '../../../src/queues/pg-boss/ends.js';

const limited = { query_timeout: 10_000 };

describe('the end of a job of pg-boss 10', () => {
  const stderr = vi.spyOn(console, 'warn');
  beforeEach(() => {
    stderr.mockReset();
  });
  afterEach(() => vi.useRealTimers());

  /** A database that refuses so many statements, and what it was asked. */
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
  /** What is looked at. */
  const boss10 = (database: unknown) =>
    ({ getQueueSize() {}, getDb: () => database }) as unknown as Parameters<typeof guardEnds>[0];

  test('is told until it is heard, and no other statement is tried again', async () => {
    const { asked, database } = down(3);
    const begins = guardEnds(boss10(database));
    // Of another queue of the same pg-boss.
    guardEnds(boss10(database))(job('b'));
    begins(job('a'));
    await expect(database.executeSql('', ['webhooks', ['c'], '{}'])).rejects.toThrow('down');
    await expect(database.executeSql('', ['webhooks', 1])).rejects.toThrow('down');
    expect(await database.executeSql('', ['webhooks', ['a'], '{}'])).toEqual({
      rows: [{ count: 1 }],
    });
    expect(asked).toHaveLength(4);
    asked.length = 0;
    // Its end was told.
    await expect(database.executeSql('', ['webhooks', ['a'], '{}'])).rejects.toThrow('down');
    expect(await database.executeSql('', ['webhooks', ['b'], '{}'])).toBeDefined();
  });

  test('is given up after half a minute, and rejects for nobody', async () => {
    vi.useFakeTimers();
    const { database } = down(Number.POSITIVE_INFINITY);
    guardEnds(boss10(database))(job('a'));
    const end = database.executeSql('', ['webhooks', ['a'], '{}']);
    await vi.advanceTimersByTimeAsync(35_000);
    expect(await end).toEqual({ rows: [{ count: 0 }] });
  });

  test('is told on stderr where nothing can be done', () => {
    guardEnds(boss10(undefined))(job('a'));
    expect(stderr).toHaveBeenCalledWith(expect.stringContaining('Use pg-boss 11'));
  });
});

describe('the limits of the connections of pg-boss', () => {
  const stderr = vi.spyOn(console, 'warn').mockImplementation(() => {});
  beforeEach(() => {
    stderr.mockClear();
  });
  const url = 'postgres://localhost/none';

  test.each([
    ['pg-boss 10', new PgBoss10({ connectionString: url }), 1],
    ['pg-boss 12', new PgBoss({ connectionString: url }), 1],
    ['pg-boss 10 with a limit', new PgBoss10({ connectionString: url, ...limited }), 0],
    ['pg-boss 12 with a limit', new PgBoss({ connectionString: url, ...limited }), 0],
    ['a limit in the URL', new PgBoss({ connectionString: `${url}?query_timeout=1` }), 0],
  ])('are missed on stderr: %s', (_, boss, lines) => {
    pgBossQueue(boss);
    expect(stderr).toHaveBeenCalledTimes(lines);
    if (lines) expect(stderr).toHaveBeenCalledWith(expect.stringContaining('query_timeout: 10000'));
  });
});
