import { execFileSync } from 'node:child_process';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { commandLines, textLines } from '../../src/cli/lines.js';
import { quote } from '../../src/cli/shell.js';

describe('a text with its label', () => {
  test('is indented to its first column on further lines', () => {
    expect(textLines('why: ', 'one two three four five six', 26)).toEqual([
      'why: one two three four',
      '     five six',
    ]);
  });

  test('has no line that is too wide, whatever its words are', () => {
    const text = `${'long'.repeat(30)} 鍵 ${'鍵'.repeat(40)} {"a":1}`;
    const lines = textLines('why: ', text, 40);
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(40);
    expect(
      lines
        .map((line) => line.slice(5))
        .join('')
        .replaceAll(' ', ''),
    ).toBe(text.replaceAll(' ', ''));
  });
});

describe('a command with its label', () => {
  const words = ['send', "it's", 'a b', '--observe', `echo "{order}" 'x' \\ y`, 'x'.repeat(50), ''];

  test.each([30, 60, 200])(
    'stays the same command for a shell when it is broken into lines of %d columns',
    (columns) => {
      const lines = commandLines('', ['printf', '%s\\n', ...words].map(quote).join(' '), columns);
      const said = execFileSync('sh', ['-c', lines.join('\n')], { encoding: 'utf8' });
      expect(said).toBe(words.map((word) => `${word}\n`).join(''));
      expect(lines.length > 1).toBe(columns < 200);
    },
  );
});
