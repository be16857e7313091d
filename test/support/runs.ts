/** How often a property is tried: `full` times with FULL_RUNS set, else a tenth, and at least five times. */
export function runs(full: number): number {
  return process.env.FULL_RUNS ? full : Math.min(full, Math.max(5, Math.round(full / 10)));
}
