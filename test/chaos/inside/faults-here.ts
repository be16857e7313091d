import type { Fault, Point } from '../faults.js';

const fault: Fault | undefined = JSON.parse(process.env.CHAOS_FAULT ?? 'null') ?? undefined;
let passed = 0;

/** Sends this process its signal if this passing of a point is the planned one. */
export function pass(point: Point): void {
  if (fault?.point !== point) return;
  passed += 1;
  if (passed === fault.nth) process.kill(process.pid, fault.signal);
}
