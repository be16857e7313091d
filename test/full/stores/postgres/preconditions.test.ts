import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import type { PostgresClient } from 'storefront-webhooks/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { acquire, newDelivery, STARTING_MS } from '../../../stores/postgres/claiming.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

const LIMITS = { query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true };

withPostgres('the PostgreSQL store logs about its server and its client', () => {
  let server: PostgresServer;
  let lines: string[];
  beforeAll(async () => {
    server = await startPostgres();
  }, STARTING_MS);
  afterAll(() => server.remove());
  beforeEach(() => {
    lines = [];
    vi.spyOn(console, 'warn').mockImplementation((line: string) => void lines.push(line));
    // Each line is logged once per process.
    vi.resetModules();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  async function use(client: PostgresClient) {
    const { postgresStore } = await import('storefront-webhooks/postgres');
    const store = postgresStore(client);
    await acquire(store, newDelivery());
    await acquire(store, newDelivery());
    return lines;
  }

  /** The set-up that docs/stores.md shows. */
  function poolOf(options: string) {
    const pool = new pg.Pool({ connectionString: server.url, ...LIMITS, options });
    pool.on('error', () => {});
    return pool;
  }

  test('nothing, with the set-up of the docs', async () => {
    const pool = poolOf('');
    expect(await use(pool)).toEqual([]);
    await pool.end();
  });

  test('one line, if the server does not wait for its disk', async () => {
    const pool = poolOf('-c synchronous_commit=off');
    expect(await use(pool)).toEqual([
      'storefront-webhooks: PostgreSQL does not wait for its disk (synchronous_commit is off), so after a crash ' +
        'it forgets the latest deliveries, and one can be handled twice. Set synchronous_commit = on. See ' +
        'node_modules/storefront-webhooks/docs/operate.md#postgres-forgets',
    ]);
    await pool.end();
  });

  test('nothing, if the server waits for more than its own disk', async () => {
    const pool = poolOf('-c synchronous_commit=remote_apply');
    expect(await use(pool)).toEqual([]);
    await pool.end();
  });

  test('one line, before the end of a connection without a listener ends the process', async () => {
    const program = `
      import pg from 'pg';
      import { postgresStore } from 'storefront-webhooks/postgres';
      const pool = new pg.Pool({ connectionString: '${server.url}', ...${JSON.stringify(LIMITS)} });
      await postgresStore(pool).count({ state: 'dead' });
      const other = new pg.Client('${server.url}');
      await other.connect();
      await other.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      console.log('it goes on');`;
    const run = promisify(execFile);
    const tsx = import.meta.resolve('tsx');
    const args = ['--import', tsx, '--input-type=module', '--eval', program];
    const ended: unknown = await run(process.execPath, args).catch((error: unknown) => error);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    const { stderr } = ended as { stderr: string };
    const [before = '', after] = stderr.split('Unhandled');
    expect(before).toContain('The pool of pg has no listener for its error event');
    expect(after).toContain('terminating connection');
  });
});
