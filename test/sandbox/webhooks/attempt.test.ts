import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { attempt } from '../../../src/sandbox/webhooks/attempt.js';
import { Destinations } from '../../../src/sandbox/webhooks/destinations.js';
import { startListener } from './listener.js';

test('an attempt that has ended leaves no listener on the signal that stops all', async () => {
  const listener = await startListener();
  onTestFinished(() => listener.close());
  const stopped = new AbortController().signal;
  const limits = { destinations: new Destinations(), timeoutMs: 10_000, stopped };
  const message = { body: new Uint8Array(), headers: {} };
  expect(await attempt(listener.url, message, limits)).toMatchObject({ kind: 'answered' });
  expect(await attempt('http://10.0.0.1/', message, limits)).toMatchObject({ kind: 'refused' });
  expect(getEventListeners(stopped, 'abort')).toEqual([]);
});
