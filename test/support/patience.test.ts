import { describe, expect, test, vi } from 'vitest';
import { beginTest, patienceMs } from './patience.js';

describe('a wait', () => {
  test('may take nine tenths of what the tier allows a test', ({ task }) => {
    beginTest(task);
    expect(patienceMs()).toBeLessThanOrEqual(0.9 * task.timeout);
    expect(patienceMs()).toBeGreaterThan(0.5 * task.timeout);
  });

  test('ends with the error of its condition before the time of the test is over', async ({
    task,
  }) => {
    // The runner has read the limit already: the wait alone takes this one.
    Object.assign(task, { timeout: 200 });
    const condition = () => {
      throw new Error('There is no answer.');
    };
    await expect(vi.waitFor(condition)).rejects.toThrow('There is no answer.');
    await expect(vi.waitFor(condition, { timeout: 60_000 })).rejects.toThrow('There is no answer.');
  });

  test('names its condition if the condition throws nothing', async ({ task }) => {
    Object.assign(task, { timeout: 200 });
    const answers: string[] = [];
    const failure = vi.waitUntil(() => answers.includes('200 OK'));
    await expect(failure).rejects.toThrow(/has not come true: .*answers\.includes\("200 OK"\)/s);
    await expect(failure).rejects.toMatchObject({
      stack: expect.stringMatching(/^[^\n]*\n[^\n]*patience\.test\.ts/),
    });
  });

  test('has a tenth of the time if the test has used up its own', ({ task }) => {
    beginTest(task);
    Object.assign(task, { timeout: 0.001 });
    expect(patienceMs()).toBeGreaterThan(0);
  });
});
