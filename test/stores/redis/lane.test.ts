import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SILENCE_MS } from '../../../src/stores/guard.js';
import { Lane } from '../../../src/stores/redis/lane.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const fails = (message: string) => () => Promise.reject(new Error(message));
const answer = async () => 'OK';

test('a connection stays silent after the commandTimeout of ioredis, because it stays open', async () => {
  const onSilence = vi.fn();
  const lane = new Lane(onSilence);
  await expect(lane.run(fails('Command timed out'))).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(SILENCE_MS);
  expect(lane.silentMs).toBe(SILENCE_MS);
  expect(onSilence).toHaveBeenCalledOnce();
  await lane.run(answer);
  expect(lane.silentMs).toBe(0);
});

test.each([
  ['a reply', answer],
  ['an error of the server', fails('READONLY You can not write against a read only replica.')],
  ['the end of the connection', fails('Connection is closed.')],
])('the silence of a connection ends with %s', async (_, end) => {
  const onSilence = vi.fn();
  const lane = new Lane(onSilence);
  void lane.run(() => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(SILENCE_MS - 1);
  const heard = vi.fn();
  void lane.reply().then(heard);
  await lane.run(end).catch(() => {});
  expect(heard).toHaveBeenCalledOnce();
  expect(lane.silentMs).toBe(0);
  // The first call still waits.
  await vi.advanceTimersByTimeAsync(SILENCE_MS - 1);
  expect(onSilence).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(onSilence).toHaveBeenCalledOnce();
});
