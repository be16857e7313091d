/** Whether the nightly tier is running: it tries every version, and each property many times. */
export const isNightly = Boolean(process.env.NIGHTLY);

/**
 * How many runs a property gets: `all` in the nightly tier, and a tenth of it, but at least 20, elsewhere. A
 * failing run prints its seed.
 *
 * @param few - The number of runs outside the nightly tier, instead of a tenth, if each takes long.
 */
export function runs(all: number, few = Math.min(all, Math.max(20, Math.ceil(all / 10)))): number {
  return isNightly ? all : few;
}

/** Returns the cases of a landing, such as versions of a runtime. The nightly tier runs all. */
export function casesOf<Case>(cases: readonly Case[], landing: (each: Case) => boolean): Case[] {
  return cases.filter((each) => isNightly || landing(each));
}
