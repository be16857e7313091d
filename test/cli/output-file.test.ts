import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkWritable } from '../../src/cli/output-file.js';
import { newFolder } from '../support/folders.js';

test('a file that can be written is left as it was', () => {
  const folder = newFolder();
  const [present, absent] = [join(folder, 'present.xml'), join(folder, 'absent.xml')];
  writeFileSync(present, 'of the last run');
  checkWritable(present, '--junit');
  checkWritable(absent, '--junit');
  expect(readFileSync(present, 'utf8')).toBe('of the last run');
  expect(existsSync(absent)).toBe(false);
});

test('a named pipe is not opened, because its reader would end', () => {
  const pipe = join(newFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  // To open a pipe that nobody reads would wait for a reader.
  checkWritable(pipe, '--junit');
});

test('a folder, or a file in a folder that does not exist, is rejected', () => {
  const folder = newFolder();
  for (const file of [folder, join(folder, 'absent', 'x.xml')]) {
    expect(() => checkWritable(file, '--junit')).toThrow('--junit names a file that cannot');
  }
});
