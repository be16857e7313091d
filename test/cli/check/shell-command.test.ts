import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createObserver } from '../../../src/cli/check/observer.js';
import { runForOutput } from '../../../src/cli/check/shell-command.js';
import { newFolder } from '../../support/folders.js';

/** Returns a command whose process never ends. */
function endless() {
  // Its time limit is over only if the test says so.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const pipe = join(newFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  return {
    command: `sleep 30 > ${pipe} & wait`,
    /** Resolves once the process runs, to a function whose result resolves once the process has ended. */
    async begun() {
      const written = await open(pipe);
      onTestFinished(() => written.close());
      return () => written.readFile('utf8');
    },
  };
}

test('a command that takes too long is ended with the processes that it has started', async () => {
  const { command, begun } = endless();
  const counted = runForOutput(command, process.env, 10_000, new AbortController().signal);
  const refused = expect(counted).rejects.toThrow('the command did not end within 10 s');
  const ended = await begun();
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  expect(await ended()).toBe('');
});

test('a count ends with the check, and is not retried', async () => {
  const { command, begun } = endless();
  const check = new AbortController();
  const counted = createObserver(command, process.env, check.signal).count('ord_1');
  const refused = expect(counted).rejects.toThrow('--observe does not count');
  const ended = await begun();
  check.abort();
  await refused;
  expect(await ended()).toBe('');
});

test('a count ends with the process that an interrupt ends', async () => {
  const { command, begun } = endless();
  const counted = runForOutput(command, process.env, 10_000, new AbortController().signal);
  const refused = expect(counted).rejects.toThrow();
  const ended = await begun();
  const { kill } = process;
  const raised: unknown[] = [];
  const spied = vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
    // A real signal would end the process of the tests.
    if (pid === process.pid) raised.push(signal);
    else kill.call(process, pid, signal);
    return true;
  });
  onTestFinished(() => spied.mockRestore());
  process.listeners('SIGINT').at(-1)?.('SIGINT');
  await refused;
  expect([await ended(), raised]).toEqual(['', ['SIGINT']]);
});

test('counts at once add one listener for signals, and leave none', async () => {
  const before = process.listenerCount('SIGINT');
  const { signal } = new AbortController();
  const counts = ['echo 1', 'echo 2'].map((one) => runForOutput(one, process.env, 10_000, signal));
  expect(process.listenerCount('SIGINT')).toBe(before + 1);
  await Promise.all(counts);
  expect(process.listenerCount('SIGINT')).toBe(before);
});

test('a command that has ended is not ended again with the check: another process may have its id', async () => {
  const check = new AbortController();
  await runForOutput('true', process.env, 10_000, check.signal);
  expect(getEventListeners(check.signal, 'abort')).toEqual([]);
});
