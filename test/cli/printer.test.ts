import { expect, test } from 'vitest';
import { createPrinter } from '../../src/cli/printer.js';

test('a line of JSON contains no control characters, and parses to the same value', () => {
  const pieces: string[] = [];
  const stdout = { write: (text: string) => pieces.push(text) };
  const stderr = { write() {} };
  const record = { id: 'a\u009b2J\u007f\u202eb\u2028c\u{e0041}\u001b', emoji: '😀', text: 'ü\\' };
  createPrinter({ stdout, stderr, env: {} }, () => true).found(record, () => '');
  const written = pieces.join('').trimEnd();
  expect(written).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(written).toContain('ü');
  expect(JSON.parse(written)).toEqual(record);
});

test('a note of several lines is printed in one, without control characters', () => {
  const pieces: string[] = [];
  const stderr = { write: (text: string) => pieces.push(text) };
  const printer = createPrinter({ stdout: { write() {} }, stderr, env: {} }, () => true);
  printer.note('Cannot find x\r\nRequire stack:\n- a.js\u001b[2J\u009b2J\u2028b\rc');
  expect(pieces).toEqual(['Cannot find x Require stack: - a.js\\u{1b}[2J\\u{9b}2J\\u{2028}b c\n']);
});
