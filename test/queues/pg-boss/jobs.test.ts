import pg from 'pg';
import PgBoss from 'pg-boss';
import { pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { expect, test } from 'vitest';

test('pgBossQueue rejects anything but a pg-boss', () => {
  // @ts-expect-error: a mistake that a JavaScript program can make.
  expect(() => pgBossQueue(new pg.Pool())).toThrow(
    expect.objectContaining({ code: 'client_invalid' }),
  );
});

test('pgBossWorker rejects anything but a receiver', async () => {
  // @ts-expect-error: a mistake that a JavaScript program can make.
  const worker = pgBossWorker(new PgBoss('postgres://127.0.0.1:1/none'), {});
  await expect(worker).rejects.toMatchObject({ code: 'receiver_invalid' });
});
