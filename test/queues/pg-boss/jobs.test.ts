import pg from 'pg';
import { pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { expect, test } from 'vitest';
import { newBoss } from './bosses.js';

test('anything but a pg-boss is refused', () => {
  // @ts-expect-error: what plain JavaScript may pass.
  expect(() => pgBossQueue(new pg.Pool())).toThrow(
    expect.objectContaining({ code: 'client_invalid' }),
  );
});

test('a worker of what is no receiver is refused where it is made', async () => {
  // @ts-expect-error: what plain JavaScript may pass.
  const worker = pgBossWorker(newBoss(12, 'postgres://127.0.0.1:1/none'), {});
  await expect(worker).rejects.toMatchObject({ code: 'receiver_invalid' });
});
