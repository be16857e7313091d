import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { runRows } from '../../../src/cli/check/run.js';
import { type Kept, ours, serveEndpoint } from './endpoints.js';
import { runOf } from './runs.js';

/** A receiver that does not answer a signature of an odd length, or a repeated header. */
function without(answer: (response: ServerResponse) => unknown) {
  return (kept: Kept) => {
    const handler = ours(kept);
    return (request: IncomingMessage, response: ServerResponse) => {
      const { headersDistinct: given } = request;
      const signatures = given['x-service-signature'] ?? [];
      const isOdd = signatures.some(({ length }) => length > 0 && length !== 128);
      const isTwice = signatures.length > 1 || (given['x-service-event'] ?? []).length > 1;
      return isOdd || isTwice ? answer(response) : handler(request, response);
    };
  };
}

test.concurrent.each([
  ['closes the connection', (response: ServerResponse) => response.destroy(), /closed/],
  ['never answers', () => {}, /did not answer within 1 s/],
])('check complains about an endpoint that %s on a forgery', async (_, answer, cause) => {
  const endpoint = await serveEndpoint(without(answer));
  onTestFinished(() => endpoint.stop());
  const run = runOf(endpoint, { only: ['paid', 'unsigned', 'odd-signature', 'headers-twice'] });
  const results = await runRows({ ...run, setting: { ...run.setting, timeoutMs: 1000 } });
  const failed = {
    verdict: 'failed',
    cause: expect.stringMatching(cause),
    customer: expect.stringContaining('make the endpoint fail'),
  };
  expect(results).toMatchObject([
    { row: 'paid', verdict: 'passed' },
    { row: 'unsigned', verdict: 'passed' },
    { row: 'odd-signature', ...failed },
    { row: 'headers-twice', ...failed },
  ]);
});
