import { expect, onTestFinished, test, vi } from 'vitest';
import { StoppingHost } from '../../adapters/shared/late-work.js';
import { gate } from '../support/gate.js';

const response = { status: 200, headers: {}, body: '', outcome: 'handled', ran: [] } as const;

test.each(['ends', 'fails'] as const)(
  'responses wait less for work that goes on, until it %s',
  async (how) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const host = new StoppingHost();
    /** How long a response waits for work that has not ended. */
    const waits = async (work: Promise<unknown>) => {
      const startedAt = performance.now();
      const ended = host.end({ ...response, recorded: work });
      await vi.runAllTimersAsync();
      await ended;
      return performance.now() - startedAt;
    };
    const { open, opened } = gate();
    const work = opened.then(() => {
      if (how === 'fails') throw new Error('no');
    });
    expect(await waits(work)).toBe(10_000);
    expect(await waits(work)).toBe(2_000);
    open();
    await work.catch(() => {});
    expect(await waits(new Promise(() => {}))).toBe(10_000);
  },
);
