/** How often to try a property: in full where `FULL_RUNS` is set, and else about a tenth as often. */
export function runs(full: number): number {
  return process.env.FULL_RUNS ? full : Math.max(5, Math.round(full / 10));
}
