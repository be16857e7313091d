import type { BullmqJob } from './bullmq.js';

/** Up to here a clock counts as right: a pause of a second is the shortest that there is. */
const MAX_OFF_MS = 1_000;
/** Longer ones would take the worker's slots from other jobs. */
const MAX_HOLD_MS = 60_000;
const LOOK_MS = 250;

/**
 * BullMQ has a job put off until a time by the clock of its worker, and each worker takes what is due by its
 * own. One that is an hour fast would put off what it fails by an hour, for all workers; and what is put off
 * by Redis's clock, it would take again at once. So where its clock is wrong, a short pause is held in this
 * process, for which it needs no time of day, and the job then put back to be taken at once.
 *
 * @returns By how many milliseconds the clock of this process is ahead of Redis's, or behind if negative; 0
 *   where that is next to nothing, or cannot be told.
 */
export async function aheadOfRedis(job: BullmqJob): Promise<number> {
  // Without Redis, there is more to fail than this.
  const redisMs = await askTime(job).catch(() => undefined);
  const aheadMs = redisMs === undefined ? 0 : Date.now() - redisMs;
  return Math.abs(aheadMs) > MAX_OFF_MS ? aheadMs : 0;
}

/** Whether a pause is short enough to be held. */
export function canHold(pauseMs: number): boolean {
  return pauseMs <= MAX_HOLD_MS;
}

/** Waits, at most for as long as a pause may be held, and not while the worker is to stop. */
export async function hold(job: BullmqJob, pauseMs: number): Promise<void> {
  const end = performance.now() + Math.min(pauseMs, MAX_HOLD_MS);
  for (;;) {
    const leftMs = end - performance.now();
    if (leftMs <= 0 || find(find(job, 'queue'), 'closing') !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, Math.min(leftMs, LOOK_MS)));
  }
}

async function askTime(job: BullmqJob): Promise<number | undefined> {
  const client = await find(find(find(job, 'queue'), 'backend'), 'client');
  if (!tellsTime(client)) return undefined;
  const time = await client.time();
  // Seconds and microseconds, or what other drivers make of them.
  if (time instanceof Date) return time.getTime();
  if (!Array.isArray(time)) return undefined;
  const ms = Number(time[0]) * 1000 + Number(time[1]) / 1000;
  return Number.isFinite(ms) ? ms : undefined;
}

function tellsTime(client: unknown): client is { time(): Promise<unknown> } {
  return typeof find(client, 'time') === 'function';
}

function find(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
