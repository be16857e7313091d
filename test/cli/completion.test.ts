import { expect, test } from 'vitest';
import { run } from './command.js';

test('a shell completes the subcommands of a command, its flags and those of the subcommands', async () => {
  const { stdout } = await run(['completion', 'bash']);
  const [, words = ''] = /^ *dead\) words="(.*)" ;;$/m.exec(stdout) ?? [];
  expect(words.split(' ')).toEqual(
    expect.arrayContaining(['list', 'redrive', '--where', '--apply']),
  );
});
