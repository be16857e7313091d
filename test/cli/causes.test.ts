import { expect, test } from 'vitest';
import { explain } from '../../src/cli/causes.js';

const answered = { event: 'order:paid', error: '', expect: undefined };

test.each([
  ['busy', /being handled, or the process that handled it has died/, /in ten seconds/],
  ['unavailable', /its store is down/, /logged the reason on stderr/],
])('the cause of a 503 is explained: %s', (outcome, cause, fix) => {
  expect(explain({ ...answered, status: 503, outcome })).toEqual({
    cause: expect.stringMatching(cause),
    fix: expect.stringMatching(fix),
  });
});

test('a handler that takes too long is not reported as a server that is down', () => {
  const error = 'http://localhost:3000/ did not answer within 10000 ms. Look at what it waits for.';
  expect(explain({ ...answered, status: 0, outcome: '', error })).toEqual({
    cause: 'The server did not answer within 10000 ms. A provider does not wait longer.',
    fix: expect.stringMatching(/queue: docs\/queues\.md.*--timeout/),
  });
});

test('a duplicate is explained by the store of the server if the fixture expects it to be handled', () => {
  const expected = { status: 200, outcome: 'handled' } as const;
  const duplicate = { ...answered, status: 200, outcome: 'duplicate', expect: expected };
  expect(explain(duplicate)).toEqual({
    cause: expect.stringMatching(/^The fixture expects 200 handled\. .*delivery.*order.*done\.$/),
    fix: expect.stringMatching(/an empty store.*the outcome duplicate\.$/),
  });
});

test('no store is blamed for a duplicate that the server had to reject', () => {
  const expected = { status: 401, outcome: 'rejected' } as const;
  const duplicate = { ...answered, status: 200, outcome: 'duplicate', expect: expected };
  expect(explain(duplicate)).toEqual({ cause: 'The fixture expects 401 rejected.' });
});
