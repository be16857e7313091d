import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SILENCE_MS } from '../../../src/stores/guard.js';
import { toSessions } from '../../../src/stores/postgres/sessions.js';
import { Transactions } from '../../../src/stores/postgres/transact.js';
import type { PgPool, PgPoolClient } from '../../../src/stores/postgres/transaction.js';
import { optionOf } from '../../../src/stores/size-limits.js';
import { GAP_MS } from '../../../src/stores/store.js';
import { newKey } from './claiming.js';
import { termsOf } from './work-of-a-transaction.js';

/** A connection whose queries answer as a test needs it. A server does not get silent or fail on command. */
class Connection extends EventEmitter implements PgPoolClient {
  query = vi.fn<PgPoolClient['query']>(async () => ({ rows: [] }));
}

/** The sessions of a pool with two connections, one of which is left to everything else. */
function newSessions() {
  const connection = new Connection();
  const release = vi.fn<(destroy?: boolean) => void>();
  const pool: PgPool<Connection> = {
    totalCount: 0,
    connect: (callback) => callback(undefined, connection, release),
  };
  const sessions = toSessions<Connection>(pool, 2, false);
  if (!sessions) throw new Error('The pool was not recognized.');
  return { sessions, connection, release };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a lent connection that breaks does not end the process', async () => {
  const { sessions, connection, release } = newSessions();
  const session = await sessions.open('a');
  connection.emit('error', new Error('The server closed the connection.'));
  await session.rollBack();
  expect(release).toHaveBeenCalledExactlyOnceWith(false);
  expect(connection.listenerCount('error')).toBe(0);
});

test.each(['The server closed the connection.', 'Query read timeout'])(
  'a connection leaves the pool if its rollback fails: %s',
  async (reason) => {
    const { sessions, connection, release } = newSessions();
    const session = await sessions.open('a');
    connection.query.mockRejectedValueOnce(new Error(reason));
    await session.rollBack();
    expect(release).toHaveBeenCalledExactlyOnceWith(true);
  },
);

test('a rollback waits for a silent server for a limited time', async () => {
  const { sessions, connection } = newSessions();
  await (await sessions.open('a')).rollBack();
  const limited = { text: 'ROLLBACK', query_timeout: SILENCE_MS };
  expect(connection.query).toHaveBeenLastCalledWith(limited);
});

test('a transaction that has waited too long for a connection does not take the next free one', async () => {
  const { sessions } = newSessions();
  const first = await sessions.open('a');
  const late = expect(sessions.open('b')).rejects.toMatchObject({ code: 'timed_out' });
  await vi.advanceTimersByTimeAsync(SILENCE_MS);
  await late;
  await first.commit([]);
  const next = await sessions.open('c');
  await next.rollBack();
});

test('a connection that is kept for a delivery is free again if no transaction follows', () => {
  const { sessions } = newSessions();
  expect(sessions.keep('a')).toBe(true);
  expect(sessions.keep('b')).toBe(false);
  vi.advanceTimersByTime(GAP_MS);
  expect(sessions.keep('c')).toBe(true);
});

test('a delivery has waited for a connection only once', () => {
  const { sessions } = newSessions();
  sessions.keep('a');
  sessions.keep('b');
  expect(sessions.hadToWait('a')).toBe(false);
  expect(sessions.hadToWait('b')).toBe(true);
  expect(sessions.hadToWait('b')).toBe(false);
});

test.each([
  ['its lease has ended', { signal: AbortSignal.abort() }],
  ['another process has the lease', { begin: async () => false }],
  ['its beginning cannot be recorded', { begin: () => Promise.reject(new Error('down')) }],
])(
  'a connection returns to the pool if a transaction does not begin, because %s',
  async (_, change) => {
    const { sessions, connection, release } = newSessions();
    const transactions = new Transactions(
      sessions,
      async () => false,
      () => {},
    );
    const work = vi.fn();
    await transactions.run({ ...termsOf('key', 1), ...change }, work).catch(() => {});
    expect(work).not.toHaveBeenCalled();
    expect(connection.query).toHaveBeenCalledOnce();
    expect(release).toHaveBeenCalledExactlyOnceWith(false);
  },
);

test('transactions that have collided do not run again at the same time', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const { sessions, connection } = newSessions();
  const collision = Object.assign(new Error('could not serialize access'), { code: '40001' });
  const startedAt = performance.now();
  const begunAfterMs: number[] = [];
  connection.query.mockImplementation(async (query) => {
    if (optionOf(query, 'text') === 'ROLLBACK') return { rows: [] };
    begunAfterMs.push(performance.now() - startedAt);
    throw collision;
  });
  const transactions = new Transactions(
    sessions,
    async () => false,
    () => {},
  );
  const failed = expect(transactions.run(termsOf(newKey(), 1), vi.fn())).rejects.toBe(collision);
  await vi.runAllTimersAsync();
  await failed;
  expect(begunAfterMs).toEqual([0, 100, 300]);
});
