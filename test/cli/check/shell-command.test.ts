import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runForOutput } from '../../../src/cli/check/shell-command.js';
import { newFolder } from '../../support/folders.js';

test('a command that takes too long is ended with the processes that it has started', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const pipe = join(newFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const counted = runForOutput(`sleep 60 > ${pipe} & wait`, process.env, 10_000);
  const refused = expect(counted).rejects.toThrow('the command did not end within 10 s');
  // Opens once the process writes to it, and ends once no process does.
  const written = await open(pipe);
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  expect(await written.readFile('utf8')).toBe('');
  await written.close();
});
