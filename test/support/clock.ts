import { onTestFinished, vi } from 'vitest';

/** Ends each wait of a test as soon as nothing else is left to do, in the order of their ends. */
export function skipWaits(): void {
  // Timers only: setImmediate and others wait for real events.
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
  vi.setTimerTickMode('nextTimerAsync');
  // Files share a worker's globals.
  onTestFinished(() => void vi.useRealTimers());
}
