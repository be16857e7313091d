import { serverMicros } from './server-cpu.mjs';

/**
 * Repeats some work with a number of calls in flight. Measures the calls a second, and the cost of each call to
 * this process and to the server.
 *
 * @param {(lane: number) => Promise<unknown>} work
 * @param {{ inFlight: number, ms: number, warmMs?: number, server?: number }} options - `server`: the process id
 *   of the server.
 */
export async function rate(work, { inFlight, ms, warmMs = ms / 2, server }) {
  await repeat(work, inFlight, warmMs);
  const before = usage(server);
  const { calls, tookMs } = await repeat(work, inFlight, ms);
  return { calls, ...costs(calls, tookMs, before, usage(server)) };
}

/** Returns the cost of a number of calls between two results of {@link usage}. */
export function costs(calls, tookMs, before, after) {
  const each = (name) =>
    before[name] === undefined ? null : (after[name] - before[name]) / Math.max(1, calls);
  return {
    perSecond: (1000 * calls) / tookMs,
    clientMicros: each('client'),
    serverMicros: each('server'),
  };
}

export function usage(server) {
  const { user, system } = process.cpuUsage();
  return { client: user + system, server: server && serverMicros(server) };
}

async function repeat(work, inFlight, ms) {
  const startedAt = performance.now();
  let calls = 0;
  const lane = async (_, index) => {
    while (performance.now() - startedAt < ms) {
      await work(index);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { calls, tookMs: performance.now() - startedAt };
}
