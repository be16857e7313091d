import Database from 'libsql';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectionOf } from '../../../src/stores/sqlite/connection.js';
import { stillClocks } from '../../support/still-clocks.js';

const COMMIT_MS = 16;

/** A connection whose disk is slow for five works or more. */
async function slowDisk() {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  const connection = connectionOf(database);
  await connection.run(() => {});
  let commits = 0;
  let isSlow = false;
  const exec = database.exec.bind(database);
  vi.spyOn(database, 'exec').mockImplementation((sql) => {
    if (sql === 'COMMIT') {
      commits += 1;
      if (isSlow) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, COMMIT_MS);
    }
    return exec(sql);
  });
  const works = async (count: number) => {
    isSlow = count >= 5;
    await Promise.all(Array.from({ length: count }, () => connection.run(() => {})));
    isSlow = false;
  };
  return { connection, works, commits: () => commits };
}

// Taken before a test's fake timers.
const { setImmediate: atEndOfTurn } = globalThis;
const turn = () => new Promise((resolve) => atEndOfTurn(resolve));

test('after a transaction of several works, those of the next turns share one', async () => {
  const { works, commits } = await slowDisk();
  /** Returns the number of commits within three turns, and then of all, or `undefined` if the turns were slow. */
  const afterSeveral = async () => {
    await works(5);
    const before = commits();
    const beganAt = performance.now();
    const later: Promise<void>[] = [];
    for (let turns = 0; turns < 3; turns += 1) {
      later.push(works(1));
      await turn();
    }
    const meanwhile = commits() - before;
    const wereSlow = performance.now() - beganAt > COMMIT_MS / 2;
    await Promise.all(later);
    return wereSlow ? undefined : [meanwhile, commits() - before];
  };
  let counts: number[] | undefined;
  // On a busy machine, three turns may take longer than the pause.
  while (!counts) counts = await afterSeveral();
  expect(counts).toEqual([0, 1]);
});

test('a transaction does not wait if no more works come', async () => {
  const { works, commits } = await slowDisk();
  await works(5);
  const working = works(4);
  await turn();
  await turn();
  expect(commits()).toBe(2);
  await working;
});

test('a transaction of many works does not wait for more', async () => {
  const { works, commits } = await slowDisk();
  await works(5);
  const working = works(250);
  await turn();
  expect(commits()).toBe(2);
  await working;
});

test('a transaction that is not shared does not wait', async () => {
  const { connection, works, commits } = await slowDisk();
  await works(5);
  const working = connection.transact(() => {});
  await turn();
  expect(commits()).toBe(2);
  await working;
});

describe.each(stillClocks)('while the fake clock of a test stands still (%s)', (_, install) => {
  test('works that keep coming are done', async () => {
    const { works, commits } = await slowDisk();
    await works(5);
    onTestFinished(install());
    let done = false;
    const first = works(1).then(() => {
      done = true;
    });
    const later: Promise<void>[] = [];
    while (!done) {
      later.push(works(1));
      await turn();
    }
    expect(commits()).toBeGreaterThan(1);
    await Promise.all([first, ...later]);
  });
});
