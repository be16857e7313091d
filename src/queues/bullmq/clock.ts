import { pause } from '../../runtime/timing.js';
import { optionOf } from '../../stores/size-limits.js';
import type { BullmqJob } from './bullmq.js';
import { clientOf } from './connection.js';

/** Clocks that differ by no more than this count as equal: the shortest pause is a second. */
const MAX_OFF_MS = 1_000;
/** Longer pauses would block the worker's slots for other jobs. */
const MAX_HOLD_MS = 60_000;
const LOOK_MS = 250;

/**
 * Measures how far the clock of this process is ahead of Redis's.
 *
 * BullMQ delays a job until a time by the clock of the worker that failed it, and each worker takes jobs that are
 * due by its own clock. A worker whose clock is an hour fast would delay its failed jobs by an hour for all
 * workers, and would at once retake jobs that are delayed by Redis's clock. So if the clock is wrong, this process
 * waits out a short pause itself, which needs no time of day, and then puts the job back to be taken at once.
 *
 * @returns Milliseconds, negative if the clock is behind; 0 if the difference is negligible or unknown.
 */
export async function aheadOfRedis(job: BullmqJob): Promise<number> {
  // If Redis is down, the job fails anyway.
  const redisMs = await askTime(job).catch(() => undefined);
  const aheadMs = redisMs === undefined ? 0 : Date.now() - redisMs;
  return Math.abs(aheadMs) > MAX_OFF_MS ? aheadMs : 0;
}

/** Returns whether a pause is short enough to wait it out in this process. */
export function canHold(pauseMs: number): boolean {
  return pauseMs <= MAX_HOLD_MS;
}

/** Waits for a pause, at most {@link MAX_HOLD_MS}, and ends early if the worker closes. */
export async function hold(job: BullmqJob, pauseMs: number): Promise<void> {
  const end = performance.now() + Math.min(pauseMs, MAX_HOLD_MS);
  for (;;) {
    const leftMs = end - performance.now();
    if (leftMs <= 0 || isStopping(job)) return;
    await pause(Math.min(leftMs, LOOK_MS));
  }
}

/** Returns whether the worker that runs the job closes. */
export function isStopping(job: BullmqJob): boolean {
  return optionOf(job, 'queue', 'closing') !== undefined;
}

/**
 * Keeps the worker from renewing the lock of a job that it has put back: it would report that it cannot. BullMQ
 * does the same when the processor has returned. Its earlier versions have no such list, and do report it.
 */
export function forgetLock(job: BullmqJob): void {
  const locks = optionOf(job, 'queue', 'lockManager');
  if (listsLocks(locks)) locks.untrackJob(job.id);
}

async function askTime(job: BullmqJob): Promise<number | undefined> {
  const client = await clientOf(optionOf(job, 'queue'));
  if (!tellsTime(client)) return undefined;
  const time = await client.time();
  // Seconds and microseconds, or a Date with some drivers.
  if (time instanceof Date) return time.getTime();
  if (!Array.isArray(time)) return undefined;
  const ms = Number(time[0]) * 1000 + Number(time[1]) / 1000;
  return Number.isFinite(ms) ? ms : undefined;
}

function tellsTime(client: unknown): client is { time(): Promise<unknown> } {
  return typeof optionOf(client, 'time') === 'function';
}

function listsLocks(locks: unknown): locks is { untrackJob(id: string | undefined): void } {
  return typeof optionOf(locks, 'untrackJob') === 'function';
}
