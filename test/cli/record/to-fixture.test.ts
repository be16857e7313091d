import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { redactBody } from '../../../src/cli/record/to-fixture.js';

const packed = (coding: string, text: string) =>
  redactBody({ headers: [['Content-Encoding', coding]], body: gzipSync(text) });

test('the coding of a body is found, however it is spelled', () => {
  const { body = new Uint8Array(), redacted } = packed(' GZip', '{"email":"jane"}') ?? {};
  expect(gunzipSync(body).toString()).toBe('{"email":"buyer@example.com"}');
  expect(redacted).toEqual(['/email']);
});

test('a body that expands to more than 16 MiB is not read', () => {
  expect(packed('gzip', `{"id":"${'a'.repeat(16 * 1024 * 1024)}"}`)).toBeUndefined();
});
