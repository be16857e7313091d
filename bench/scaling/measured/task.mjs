/** The task that this process measures: see `inProcess` in ../processes.mjs. */
export const task = JSON.parse(process.env.SCALING_TASK ?? '{}');

/**
 * Passes the result to the parent process, and ends this one, which the drivers' open connections would keep
 * alive.
 */
export function report(result) {
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());
}
