import { createReceiver, memoryStore, type Receiver } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { toFetch } from 'storefront-webhooks/fetch';
import { replay } from 'storefront-webhooks/testing';
import { toWorker } from 'storefront-webhooks/workers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SECRET } from './apps/inside/contract.js';

const written = vi.spyOn(console, 'error').mockImplementation(() => {});
beforeEach(() => written.mockClear());
afterEach(() => vi.useRealTimers());

const makeReceiver = () =>
  createReceiver({ secret: SECRET, store: memoryStore() }).on('*', () => {});

async function outcomeOf(
  mounted: (request: Request) => Promise<Response>,
): Promise<string | undefined> {
  return (await replay(mounted, 'order:paid', { secret: SECRET })).outcome;
}

/** Calls the adapter as JavaScript would. */
const toFetchUnchecked = (make: unknown) => toFetch(make as () => never);

const throwing = (thrown: unknown) => () => {
  throw thrown;
};

describe('if the function that creates the receiver', () => {
  test.each([
    ['gives nothing', () => undefined],
    ['gives null', () => null],
    ['returns another value', () => ({})],
    ['returns a function', () => makeReceiver],
    ['throws an object that cannot be printed', throwing(Object.create(null))],
    ['throws a value that throws when it is printed', throwing({ toString: throwing('again') })],
    ['throws undefined', throwing(undefined)],
    ['is rejected', () => Promise.reject(new Error('no secret'))],
  ])(
    '%s, the answer is 500, one line is logged, and the next request calls it again',
    async (_, make) => {
      const source = vi.fn<() => unknown>(make);
      const mounted = toFetchUnchecked(source);
      expect(await outcomeOf(mounted)).toBe('failed');
      expect(await outcomeOf(mounted)).toBe('failed');
      expect(source).toHaveBeenCalledTimes(2);
      expect(written).toHaveBeenCalledTimes(2);
      source.mockImplementation(makeReceiver);
      expect(await outcomeOf(mounted)).toBe('handled');
    },
  );

  test('never settles, it is abandoned after 10 s, and the next request calls it again', async () => {
    vi.useFakeTimers();
    const source = vi.fn<() => unknown>(() => new Promise(() => {}));
    const mounted = toFetchUnchecked(source);
    const outcomes = Promise.all([outcomeOf(mounted), outcomeOf(mounted)]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await outcomes).toEqual(['failed', 'failed']);
    expect(written).toHaveBeenCalledOnce();
    source.mockImplementation(makeReceiver);
    expect(await outcomeOf(mounted)).toBe('handled');
  });

  test('takes longer than the first request waits, all later requests use one receiver', async () => {
    vi.useFakeTimers();
    const makeWithin = (ms: number) => () =>
      new Promise<Receiver>((resolve) => setTimeout(() => resolve(makeReceiver()), ms));
    const source = vi
      .fn<() => Promise<Receiver>>()
      .mockImplementationOnce(makeWithin(12_000))
      .mockImplementationOnce(makeWithin(4_000));
    const mounted = toFetch(source);
    const outcomes: Promise<string | undefined>[] = [];
    for (const ms of [5_000, 6_000, 5_000, 0]) {
      outcomes.push(outcomeOf(mounted));
      await vi.advanceTimersByTimeAsync(ms);
    }
    expect(source).toHaveBeenCalledTimes(2);
    expect(await Promise.all(outcomes)).toEqual(['failed', 'handled', 'duplicate', 'duplicate']);
  });

  test('throws, its error is logged in one short line of printable characters', async () => {
    const text = `line\nend\u2028\u202e${'x'.repeat(100_000)}`;
    await outcomeOf(toFetchUnchecked(throwing(new Error(text))));
    const [[line = ''] = []] = written.mock.calls;
    expect(line).toMatch(
      /^[\x20-\x7e]{100,2200}… See node_modules\/storefront-webhooks\/docs\/operate\.md#receiver-failed$/,
    );
    expect(line).toContain('Error: line\\u{a}end\\u{2028}\\u{202e}xxx');
  });
});

test.each([
  ['undefined', undefined],
  ['null', null],
  ['object', {}],
  ['a promise: await it', Promise.resolve(makeReceiver())],
])('an adapter rejects %s immediately', (named, source) => {
  const given = source as ReturnType<typeof makeReceiver>;
  for (const mount of [toExpress, toFetch, toWorker]) {
    expect(() => mount(given)).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        code: 'receiver_invalid',
        message: expect.stringContaining(named),
      }),
    );
  }
});
