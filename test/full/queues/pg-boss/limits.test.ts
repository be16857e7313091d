import { pgBossQueue } from 'storefront-webhooks/pg-boss';
import { beforeEach, expect, test, vi } from 'vitest';
import { loadPgBoss12 } from '../../../queues/pg-boss/boss12.js';
import { withRuntimes } from '../../../runtimes/installed.js';

withRuntimes('pg-boss 12', () => {
  const stderr = vi.spyOn(console, 'warn').mockImplementation(() => {});
  beforeEach(() => {
    stderr.mockClear();
  });
  const url = 'postgres://localhost/none';

  test.each([
    ['warns if it is missing', { connectionString: url }, 1],
    ['accepts one in its settings', { connectionString: url, query_timeout: 10_000 }, 0],
    ['accepts one in the URL', { connectionString: `${url}?query_timeout=1` }, 0],
  ])('the check for a query timeout %s', async (_, options, lines) => {
    const { PgBoss } = await loadPgBoss12();
    pgBossQueue(new PgBoss(options));
    expect(stderr).toHaveBeenCalledTimes(lines);
    if (lines) expect(stderr).toHaveBeenCalledWith(expect.stringContaining('query_timeout: 10000'));
  });
});
