import { expect, test } from 'vitest';
import { explain } from '../../src/cli/causes.js';

const answered = { event: 'order:paid', error: '', expect: undefined };

test.each([
  ['busy', /being handled, or the process that handled it has died/, /in ten seconds/],
  ['unavailable', /its store is down/, /logged the reason on stderr/],
])('says why an answer is 503: %s', (outcome, cause, fix) => {
  expect(explain({ ...answered, status: 503, outcome })).toEqual({
    cause: expect.stringMatching(cause),
    fix: expect.stringMatching(fix),
  });
});

test('says that a handler takes too long, and not that the server is down', () => {
  const error = 'http://localhost:3000/ did not answer within 10000 ms. Look at what it waits for.';
  expect(explain({ ...answered, status: 0, outcome: '', error })).toEqual({
    cause: 'The server did not answer within 10000 ms. A provider does not wait longer.',
    fix: expect.stringMatching(/queue: docs\/queues\.md.*--timeout/),
  });
});
