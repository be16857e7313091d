import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { diagnose } from '../../../src/cli/doctor/diagnose.js';
import { decodings } from '../../../src/cli/doctor/encodings.js';
import { changesOfMembers } from '../../../src/cli/doctor/json-members.js';
import { readTree } from '../../../src/cli/doctor/json-tree.js';
import { changesOfValues } from '../../../src/cli/doctor/json-values.js';

const keys = {
  secrets: [{ name: 'OWN', secret: 'AAAA+b/c-secret-of-the-shop=' }],
  apiKeys: [],
} as const;
const signature = createHmac('sha512', 'another secret').update('').digest('hex');
const diagnosed = (body: string) => diagnose({ body: Buffer.from(body), signature }, keys).result;

const TEN_MB = 10_000_000;

/** A flat object whose members have names of their own. */
const withMembers = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, id) => [`m${id}`, `${id}`])));

/** A list of objects, each of which has members that no record has. */
const withObjects = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, email: 'a@b.c', [`m${id}`]: 1 })));

// Undoing one change visits the whole tree, so the work is the product of the changes and the members.
for (const [of, make] of Object.entries({ members: withMembers, objects: withObjects }))
  test(`doctor tries no more changes of JSON with 20,000 ${of} than with 1,000`, () => {
    const [few, many] = [1_000, 20_000].map((count) => {
      const root = readTree(make(count));
      if (root === undefined) throw new Error('The test wrote JSON that is not valid.');
      return [...changesOfMembers(root), ...changesOfValues(root)].length;
    });
    expect(few).toBeGreaterThan(100);
    expect(many).toBe(few);
  });

// A quadratic search takes 256 times as long for 16 times the text.
for (const [name, text] of [
  ['white space', (length: number) => `ab${' '.repeat(length)}cd`],
  ['white space after commas', (length: number) => `ab${', '.repeat(length / 2)}cd`],
  ['line ends', (length: number) => `ab${'\r\n'.repeat(length / 2)}cd`],
] as const)
  test(`the time to read hexadecimal grows no faster than ${name} inside it`, () => {
    const time = (length: number) => {
      const body = text(length);
      const times = Array.from({ length: 5 }, () => {
        const from = process.cpuUsage();
        [...decodings(body)];
        return process.cpuUsage(from).user;
      });
      return Math.max(Math.min(...times), 100);
    };
    const [short, long] = [time(2_000), time(32_000)];
    expect(long / short).toBeLessThan(64);
  });

test.each([
  ['a text', JSON.stringify('a'.repeat(TEN_MB))],
  ['a text of escapes', JSON.stringify('"\n'.repeat(TEN_MB / 4))],
  ['a text without quotes', 'a'.repeat(TEN_MB)],
  ['hexadecimal', '61'.repeat(TEN_MB / 2)],
])('doctor answers for 10 MB of %s', (_, body) => {
  expect(body.length).toBeGreaterThanOrEqual(TEN_MB);
  expect(diagnosed(body)).toBe('unexplained');
});

// With quadratic patterns, each takes from half a minute to hours.
test.each([
  ['a note with an arrow and a long word', inNote(`" =>"${'A'.repeat(400_000)}"`)],
  ['a note with an arrow and white space', inNote(`" =>"${' '.repeat(400_000)}"`)],
  ['white space after an arrow', `{"n":"=>"}${' '.repeat(400_000)}x`],
  ['multipart without an end', `--a\r\n${'\r\n\r\n'.repeat(100_000)}`],
  ['a name with many separators', inObject('a_'.repeat(200_000))],
  ['a name with a long separator', inObject('_'.repeat(90_000))],
])('doctor answers at once for %s', (_, body) => {
  expect(diagnosed(body)).toBe('unexplained');
});

function inNote(note: string): string {
  return JSON.stringify({ id: 'ord_1', status: 100, email: 'a@b.example', custom: { note } });
}

function inObject(name: string): string {
  return JSON.stringify({ [name]: 1, b: 2 });
}
