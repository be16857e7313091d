import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startPostgres, withPostgres } from '../../../support/postgres.js';
import { startExample } from '../../../support/program.js';

withPostgres('a recipe whose idle connections PostgreSQL closes', () => {
  test.each(['balance', 'by-hand'])('%s reports each with one line', async (recipe) => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('CREATE TABLE processed_orders (order_id text PRIMARY KEY)');
    const shop = await startExample(`examples/recipes/${recipe}.ts`, {
      env: {
        WEBHOOK_SECRET: 'a secret for tests',
        DATABASE_URL: server.url,
        PGAPPNAME: recipe,
        TOP_UP_PRODUCT: 'prd_84c1d0',
      },
    });
    onTestFinished(() => shop.stop());
    const before = shop.output();
    const { rowCount } = await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
      [recipe],
    );
    expect(rowCount).toBeGreaterThan(0);
    const reported = () => shop.output().slice(before.length);
    await vi.waitFor(() => expect(reported()).toMatch(/terminating connection.*\n/), 10_000);
    // An object of pg is written at once, so nothing else follows the first line of an error.
    const lines = reported().trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith('terminating connection'))).toEqual([]);
  });
});
