/** What this process is to measure: see `inProcess` in ../processes.mjs. */
export const task = JSON.parse(process.env.SCALING_TASK ?? '{}');

/** Gives the result to who started this process, and ends it: drivers keep connections open. */
export function report(result) {
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());
}
