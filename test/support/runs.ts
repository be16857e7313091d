/**
 * How often a property is tried: so often in `npm run test:all`, and a tenth of it, but 20 times at least, in
 * `npm test`. A run that fails prints its seed.
 *
 * @param few - So often in `npm test`, in place of a tenth, where each takes long.
 */
export function runs(all: number, few = Math.min(all, Math.max(20, Math.ceil(all / 10)))): number {
  return process.env.FULL_RUNS ? all : few;
}
