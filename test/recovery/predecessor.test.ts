import { expect, test } from 'vitest';
import { Predecessor } from '../../src/recovery/predecessor.js';
import type { WebhookLog } from '../../src/schemas/webhook-log.js';
import { collect } from '../support/memory.js';
import { HOUR } from './seller.js';

const FIRST = 1_790_000_000_000;

/** The code that has given each answer, so many hours after the first answer of the receiver. */
function answered(...answers: readonly [hours: number, response: string][]) {
  const predecessor = new Predecessor();
  for (const [hours, response] of answers) {
    const entry: WebhookLog = { id: 'whl_1', event: 'order:paid', payload: {}, response };
    predecessor.add({ ...entry, response_code: 200 }, FIRST + hours * HOUR, undefined);
  }
  return (predecessor.answeredUntil(FIRST) - FIRST) / HOUR;
}

test('the previous code has answered until it was silent for a day, whatever the form of its answers', () => {
  const page = '<html>Thank you</html>';
  expect(answered([-1, page], [20, page], [40, page], [70, page])).toBe(40);
});

test('the previous code answers again after any time, as after a rollback, if the form is that of its answers', () => {
  expect(answered([-1, 'ok 12'], [100, 'ok 13'], [200, 'maintenance'])).toBe(100);
});

test('there is no previous code if only the receiver has answered before', () => {
  expect(answered([1, 'ok'], [2, 'ok'])).toBe(Number.NEGATIVE_INFINITY);
});

test('the answers of the previous code are not kept in memory', () => {
  const ANSWERS = 20_000;
  const predecessor = new Predecessor();
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let number = 0; number < ANSWERS; number++) {
    const response = `${'thank you '.repeat(50)}${number}`;
    const entry: WebhookLog = { id: 'whl_1', event: 'order:paid', payload: {}, response };
    predecessor.add({ ...entry, response_code: 200 }, FIRST - number, undefined);
  }
  collect();
  expect((process.memoryUsage().heapUsed - before) / ANSWERS).toBeLessThan(150);
  expect(predecessor.answeredUntil(FIRST)).toBe(FIRST);
});
