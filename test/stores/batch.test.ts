import { afterEach, expect, test, vi } from 'vitest';
import { Batch, type BatchOptions } from '../../src/stores/batch.js';

const OPTIONS: BatchOptions<string, string> = {
  maxRunning: 2,
  maxItems: 3,
  maxSize: 10,
  sizeOf: (item) => item.length,
  keyOf: (item) => item,
};

afterEach(() => {
  vi.useRealTimers();
});

/** A batch whose runs the test ends. */
function start(options: Partial<BatchOptions<string, string>> = {}) {
  const runs: { items: readonly string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const batch = new Batch<string, string>(
    (items) =>
      new Promise((resolve, reject) => {
        runs.push({
          items,
          end: () => resolve(items.map((item) => item.toUpperCase())),
          fail: reject,
        });
      }),
    { ...OPTIONS, ...options },
  );
  const sent = () => runs.map(({ items }) => items.join());
  return { batch, runs, sent, until: (count: number) => vi.waitUntil(() => runs.length >= count) };
}

test('items of one turn of the event loop are sent together, and each gets its own result', async () => {
  const { batch, runs, sent, until } = start();
  const adding = Promise.all(['a', 'b', 'c'].map((item) => batch.add(item)));
  await until(1);
  expect(sent()).toEqual(['a,b,c']);
  runs[0]?.end();
  expect(await adding).toEqual(['A', 'B', 'C']);
});

test('items that arrive while enough runs are in progress are sent together afterwards', async () => {
  const { batch, runs, sent, until } = start();
  const first = batch.add('a');
  await until(1);
  const second = batch.add('b');
  await until(2);
  const later = Promise.all([batch.add('c'), batch.add('d')]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent()).toEqual(['a', 'b']);
  runs[1]?.end();
  await until(3);
  expect(sent()).toEqual(['a', 'b', 'c,d']);
  runs[0]?.end();
  runs[2]?.end();
  expect(await Promise.all([first, second, later])).toEqual(['A', 'B', ['C', 'D']]);
});

test.each([
  ['up to the number of items', ['a', 'b', 'c', 'd'], ['a,b,c', 'd']],
  ['up to the size', ['aaaaaa', 'bbbbbb', 'cc'], ['aaaaaa,cc', 'bbbbbb']],
  [
    'except an item that is too large, which is sent alone',
    ['a'.repeat(30), 'b'],
    ['a'.repeat(30), 'b'],
  ],
  ['except two of the same key', ['a', 'a', 'b'], ['a,b', 'a']],
])('a batch groups items: %s', async (_, items, expected) => {
  const { batch, runs, sent, until } = start();
  const adding = Promise.all(items.map((item) => batch.add(item)));
  await until(2);
  expect(sent()).toEqual(expected);
  for (const { end } of runs) end();
  expect(await adding).toEqual(items.map((item) => item.toUpperCase()));
});

test('items are sent alone until they have waited long enough to share a run', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const { batch, runs, sent } = start({ maxRunning: 1, aloneMs: 50 });
  const adding = Promise.all(['a', 'b', 'c', 'd'].map((item) => batch.add(item)));
  await turn();
  runs[0]?.end();
  await turn();
  expect(sent()).toEqual(['a', 'b']);
  vi.advanceTimersByTime(50);
  runs[1]?.end();
  await turn();
  expect(sent()).toEqual(['a', 'b', 'c,d']);
  runs[2]?.end();
  expect(await adding).toEqual(['A', 'B', 'C', 'D']);
});

test('a failing run rejects its items, and the next run continues', async () => {
  const { batch, runs, until } = start({ maxRunning: 1 });
  const adding = Promise.allSettled([batch.add('a'), batch.add('b')]);
  await until(1);
  runs[0]?.fail(new Error('no'));
  expect((await adding).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const next = batch.add('c');
  await until(2);
  runs[1]?.end();
  expect(await next).toBe('C');
});

test('a run that throws or returns too few results rejects its items', async () => {
  const throwing = new Batch<string, string>(() => {
    throw new Error('at once');
  }, OPTIONS);
  await expect(throwing.add('a')).rejects.toThrow('at once');
  const short = new Batch<string, string>(async () => ['A'], OPTIONS);
  const adding = Promise.allSettled([short.add('a'), short.add('b')]);
  expect((await adding).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('the items of a failed run are sent one by one if one of them may be at fault', async () => {
  const sent: string[] = [];
  const batch = new Batch<string, string>(
    async (items) => {
      sent.push(items.join());
      if (items.includes('b')) throw new Error('not this one');
      return items;
    },
    { ...OPTIONS, isFaultOfOne: () => true },
  );
  const adding = Promise.allSettled(['a', 'b', 'c'].map((item) => batch.add(item)));
  expect((await adding).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(sent).toEqual(['a,b,c', 'a', 'b', 'c']);
});

test('a batch that hangs frees its place for one other batch, and not a second time when it ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const { batch, runs, sent } = start({ maxRunning: 1 });
  const first = batch.add('a');
  await turn();
  await vi.advanceTimersByTimeAsync(10_000);
  const second = batch.add('b');
  await turn();
  expect(sent()).toEqual(['a', 'b']);
  runs[0]?.end();
  expect(await first).toBe('A');
  const third = batch.add('c');
  await turn();
  expect(sent()).toEqual(['a', 'b']);
  runs[1]?.end();
  await turn();
  expect(sent()).toEqual(['a', 'b', 'c']);
  runs[2]?.end();
  expect(await Promise.all([second, third])).toEqual(['B', 'C']);
});

test('an item whose caller has timed out is not sent', async () => {
  const { batch, runs, sent, until } = start({ maxRunning: 1 });
  const first = batch.add('a');
  await until(1);
  vi.useFakeTimers({ toFake: ['performance'] });
  const late = batch.add('b');
  vi.advanceTimersByTime(10_001);
  const withTimeout = batch.add('c');
  runs[0]?.end();
  await expect(late).rejects.toMatchObject({ code: 'timed_out' });
  await vi.waitUntil(() => runs.length === 2);
  runs[1]?.end();
  expect(await Promise.all([first, withTimeout])).toEqual(['A', 'C']);
  expect(sent()).toEqual(['a', 'c']);
});
