import { expect, test } from 'vitest';
import { processHost } from '../../src/cli/host.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

test.each(SIGNALS)('after %s, the next signal of either kind ends the process', async (signal) => {
  const count = () => SIGNALS.map((one) => process.listenerCount(one));
  const before = count();
  const interrupted = processHost.interrupted();
  expect(count()).toEqual(before.map((listeners) => listeners + 1));
  // A real signal would also reach the process of the tests.
  process.listeners(signal).at(-1)?.(signal);
  await interrupted;
  expect(count()).toEqual(before);
});
