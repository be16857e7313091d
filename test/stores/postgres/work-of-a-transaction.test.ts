import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
import { expect, test } from 'vitest';
import { guardClient } from '../../../src/stores/postgres/guard-client.js';
import { openPglite } from '../../support/pglite.js';
import { newKey } from './claiming.js';
import { describeWork, PIECES, runInStore, SELL, STOCK } from './work-of-a-transaction.js';

async function open() {
  const database = await openPglite();
  await database.exec(STOCK);
  const pieces = async () => {
    const { rows } = await database.query<{ pieces: string }>(PIECES);
    return Number(rows[0]?.pieces);
  };
  return { database, pieces };
}

describeWork('PGlite', async () => {
  const { database, pieces } = await open();
  return {
    client: database,
    store: postgresStore(database),
    run: (tx, statement) => tx.query(statement),
    exec: (statements) => database.exec(statements),
    pieces,
  };
});

test.each(['exec', 'sql', 'rollback'] as const)(
  'PGlite: %s of a transaction cannot end it, and runs nothing later',
  async (name) => {
    const { database, pieces } = await open();
    type Tx = Parameters<Parameters<typeof database.transaction>[0]>[0];
    let kept: Tx | undefined;
    const end = async (tx: Tx) => {
      if (name === 'exec') await tx.exec('SELECT 1; COMMIT');
      if (name === 'sql') await tx.sql`COMMIT`;
      if (name === 'rollback') await tx.rollback();
    };
    const { isDone, error } = await runInStore(postgresStore(database), async (tx) => {
      kept = tx;
      await tx.exec(SELL);
      await end(tx);
    });
    expect(error).toMatchObject({ name: 'UsageError', code: 'transaction_missing' });
    expect({ isDone, pieces: await pieces() }).toEqual({ isDone: false, pieces: 10 });
    const late = async () => kept && (await end(kept));
    await expect(late()).rejects.toMatchObject({ code: 'transaction_missing' });
    // Values and the other members are the driver's own.
    const effect = { key: newKey(), handler: 'ship' };
    await postgresLedger(database).transaction(database, effect, async (tx) => {
      expect((await tx.sql`SELECT ${'a'} || ${'b'} AS ab`).rows).toEqual([{ ab: 'ab' }]);
      expect(tx.closed).toBe(false);
    });
  },
);

test.each(['SET LOCAL search_path TO shop', 'SET LOCAL ROLE clerk'])(
  'a handler is told to undo what hides the table of the store: %s',
  async (setting) => {
    const { database, pieces } = await open();
    await database.exec('DROP ROLE IF EXISTS clerk; CREATE ROLE clerk');
    const store = postgresStore(database);
    const { isDone, error } = await runInStore(store, async (tx) => {
      await tx.exec(SELL);
      await tx.exec(setting);
    });
    expect(error).toMatchObject({
      code: 'transaction_missing',
      message: expect.stringMatching(/search_path.*role/),
      cause: { message: expect.stringContaining('webhook_delivery') },
    });
    expect({ isDone, pieces: await pieces() }).toEqual({ isDone: false, pieces: 10 });
  },
);

test('never commits without a savepoint of postgres.js that fails while the work ends', async () => {
  const ends = Array.from({ length: 12 }, async (_, turns) => {
    let fail = (_: Error) => {};
    const savepoint = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    const work = guardClient(Object.assign(() => {}, { savepoint })).run(async (tx) => {
      void tx.savepoint();
      await undefined;
      void (async () => {
        for (let turn = 0; turn < turns; turn++) await undefined;
        fail(new Error('out of licences'));
      })();
    });
    return work.then(
      () => 'committed',
      () => 'rolled back',
    );
  });
  expect(new Set(await Promise.all(ends))).toEqual(new Set(['rolled back']));
});
