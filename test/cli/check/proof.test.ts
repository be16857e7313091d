import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { recordsIn, run } from '../command.js';
import { ours, type RunningEndpoint, SECRET, serveEndpoint } from './endpoints.js';

let endpoint: RunningEndpoint;

beforeAll(async () => {
  endpoint = await serveEndpoint(ours);
});
afterAll(() => endpoint.stop());

const check = (...args: string[]) =>
  run(['check', ...args], { env: { WEBHOOK_SECRET: SECRET, NO_COLOR: '1' } });

test('check --only passes no row of an address that does not take a paid order', async () => {
  const { status, stdout } = await check(`${endpoint.url.origin}/elsewhere`, '--only', 'tampered');
  expect(recordsIn(stdout)).toMatchObject([
    { row: 'paid', verdict: 'failed', answers: [404] },
    { row: 'tampered', verdict: 'not tried' },
  ]);
  expect(status).toBe(1);
});

test('check exits with 1 if the time was up before a row was tried', async () => {
  const within = AbortSignal.timeout;
  // The row takes 2 s.
  const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => within(1500));
  onTestFinished(() => spy.mockRestore());
  const { status, stdout } = await check(endpoint.url.href, '--only', 'slow');
  expect(recordsIn(stdout)).toMatchObject([
    { row: 'slow', verdict: 'not tried', cause: expect.stringContaining('The time') },
  ]);
  expect(status).toBe(1);
});
