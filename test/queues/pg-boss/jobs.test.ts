import pg from 'pg';
import PgBoss from 'pg-boss';
import { pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { expect, test, vi } from 'vitest';

test('pgBossQueue rejects anything but a pg-boss', () => {
  // @ts-expect-error: a mistake that a JavaScript program can make.
  expect(() => pgBossQueue(new pg.Pool())).toThrow(
    expect.objectContaining({ code: 'client_invalid' }),
  );
});

test.each([
  ['pgBossQueue', async (boss: PgBoss) => pgBossQueue(boss)],
  ['pgBossWorker', async (boss: PgBoss) => pgBossWorker(boss, { dispatch: vi.fn() })],
])('%s rejects pg-boss 9 by its name and version', async (_, use) => {
  const boss = new PgBoss('postgres://127.0.0.1:1/none');
  // pg-boss 9 creates a queue with its first job.
  Object.assign(boss, { createQueue: undefined });
  await expect(use(boss)).rejects.toMatchObject({
    code: 'version_unsupported',
    message: expect.stringMatching(
      /pg-boss 10 or later, and this is pg-boss 9 .*: npm install pg-boss@10/,
    ),
  });
});

test('pgBossWorker rejects anything but a receiver', async () => {
  // @ts-expect-error: a mistake that a JavaScript program can make.
  const worker = pgBossWorker(new PgBoss('postgres://127.0.0.1:1/none'), {});
  await expect(worker).rejects.toMatchObject({ code: 'receiver_invalid' });
});
