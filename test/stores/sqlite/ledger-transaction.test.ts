import { createHash, randomUUID } from 'node:crypto';
import Database from 'libsql';
import { sqliteLedger } from 'storefront-webhooks/sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

const newEffect = () => ({
  key: createHash('sha256').update(randomUUID()).digest('hex'),
  handler: 'order:paid',
});

const SELL = 'UPDATE stock SET n = n - 1';

/** Opens a shop with a stock of 100 pieces. */
function openShop() {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  database.exec('CREATE TABLE stock (n INTEGER); INSERT INTO stock VALUES (100)');
  const ledger = sqliteLedger();
  const sell = (
    effect = newEffect(),
    work: (tx: Database.Database) => void = (tx) => tx.exec(SELL),
  ) => ledger.transaction(database, effect, work);
  const stock = () => database.prepare('SELECT n FROM stock').get();
  const level = () => database.prepare('PRAGMA synchronous').get();
  return { database, sell, stock, level };
}

/** Lets everything run that a rejected work may have left behind. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a transaction of the SQLite ledger', () => {
  test('runs an effect once', async () => {
    const { sell, stock } = openShop();
    const effect = newEffect();
    expect([await sell(effect), await sell(effect)]).toEqual([true, false]);
    expect(stock()).toMatchObject({ n: 99 });
    expect(await sell({ ...effect, handler: 'other' })).toBe(true);
    expect(stock()).toMatchObject({ n: 98 });
  });

  test.each(['it fails', 'database is locked'])(
    'rolls back work that throws "%s", and runs it once',
    async (message) => {
      const { sell, stock } = openShop();
      const effect = newEffect();
      const work = vi.fn((tx: Database.Database) => {
        tx.exec(SELL);
        throw new Error(message);
      });
      await expect(sell(effect, work)).rejects.toThrow(message);
      expect(work).toHaveBeenCalledOnce();
      expect(stock()).toMatchObject({ n: 100 });
      expect(await sell(effect)).toBe(true);
    },
  );

  const rejected = () => Promise.reject(new Error('Nothing awaits this.'));
  test.each<[string, () => unknown]>([
    ['a promise that resolves', () => Promise.resolve()],
    ['a promise that rejects', rejected],
    ['an array with promises', () => [undefined, rejected(), rejected()]],
  ])('rejects and rolls back work that returns %s', async (_, later) => {
    const { sell, stock } = openShop();
    const effect = newEffect();
    const work = (tx: Database.Database) => {
      tx.exec(SELL);
      return later();
    };
    await expect(sell(effect, work)).rejects.toMatchObject({
      code: 'work_invalid',
      message: expect.stringContaining('no await'),
    });
    await turn();
    expect(stock()).toMatchObject({ n: 100 });
    expect(await sell(effect)).toBe(true);
  });

  test('rejects an async function before it starts, so that nothing runs after its first await', async () => {
    const { sell, stock } = openShop();
    const effect = newEffect();
    const steps: string[] = [];
    const work = async (tx: Database.Database) => {
      steps.push('begins');
      await Promise.resolve();
      tx.exec(SELL);
    };
    await expect(sell(effect, work)).rejects.toMatchObject({ code: 'work_invalid' });
    await turn();
    expect(steps).toEqual([]);
    expect(stock()).toMatchObject({ n: 100 });
    expect(await sell(effect)).toBe(true);
  });

  test('rejects work that begins another transaction, with advice', async () => {
    const { sell, stock } = openShop();
    const effect = newEffect();
    const work = (tx: Database.Database) => tx.transaction(() => tx.exec(SELL))();
    await expect(sell(effect, work)).rejects.toMatchObject({
      code: 'work_invalid',
      message: expect.stringMatching(/Leave out BEGIN.*SAVEPOINT/),
    });
    expect(stock()).toMatchObject({ n: 100 });
    expect(await sell(effect)).toBe(true);
  });

  test('waits for the disk, also on a connection that does not, and leaves the connection as it was', async () => {
    const { database, sell, stock, level } = openShop();
    database.exec('PRAGMA synchronous = NORMAL');
    const levels: unknown[] = [];
    const work = (tx: Database.Database) => {
      levels.push(level());
      tx.exec(SELL);
    };
    expect(await sell(newEffect(), work)).toBe(true);
    expect(level()).toMatchObject({ synchronous: 1 });
    const failing = sell(newEffect(), (tx) => {
      work(tx);
      throw new Error('it fails');
    });
    await expect(failing).rejects.toThrow('it fails');
    expect(level()).toMatchObject({ synchronous: 1 });
    expect(levels).toMatchObject([{ synchronous: 2 }, { synchronous: 2 }]);
    expect(stock()).toMatchObject({ n: 99 });
  });

  test('keeps a level that waits for more than the commit', async () => {
    const { database, sell, level } = openShop();
    database.exec('PRAGMA synchronous = EXTRA');
    const work = vi.fn(level);
    expect(await sell(newEffect(), () => void work())).toBe(true);
    expect(work).toHaveReturnedWith(expect.objectContaining({ synchronous: 3 }));
    expect(level()).toMatchObject({ synchronous: 3 });
  });
});
