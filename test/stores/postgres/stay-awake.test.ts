import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { CopyGate, stayAwake } from '../../../src/stores/postgres/stay-awake.js';

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

/** The connection of a transaction whose work waits for something else. */
function waiting(answer: () => Promise<void>) {
  const tx = { unsafe: vi.fn(answer) };
  const gate = new CopyGate();
  const stop = stayAwake(tx, gate);
  onTestFinished(stop);
  return { tx, gate, stop };
}

test('a connection gets an empty statement every two seconds, until the work has ended', async () => {
  const { tx, stop } = waiting(async () => {});
  await vi.advanceTimersByTimeAsync(6_000);
  expect(tx.unsafe.mock.calls).toEqual([[''], [''], ['']]);
  stop();
  await vi.advanceTimersByTimeAsync(6_000);
  expect(tx.unsafe).toHaveBeenCalledTimes(3);
});

test('a COPY is not interrupted by a statement', async () => {
  const { tx, gate } = waiting(async () => {});
  gate.refusal(() => ' copy stock FROM STDIN');
  gate.refusal(() => 'SELECT 1');
  await vi.advanceTimersByTimeAsync(6_000);
  expect(tx.unsafe).not.toHaveBeenCalled();
});

test('a dead connection is not kept alive by further statements', async () => {
  const { tx } = waiting(() => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(6_000);
  expect(tx.unsafe).toHaveBeenCalledOnce();
});
