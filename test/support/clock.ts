import { onTestFinished, vi } from 'vitest';

/** Lets each wait of a test end as soon as nothing else is left to do, in the order of their ends. */
export function skipWaits(): void {
  // Not setImmediate and the like: what they wait for is real.
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
  vi.setTimerTickMode('nextTimerAsync');
  // Files share a worker's globals.
  onTestFinished(() => void vi.useRealTimers());
}
