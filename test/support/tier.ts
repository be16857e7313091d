/** Whether the nightly tier is running: it tries every version, and each property many times. */
export const isNightly = Boolean(process.env.NIGHTLY);

/**
 * How often a property is tried: `all` in the nightly tier, and a tenth of it, but at least 20 times, elsewhere. A
 * run that fails prints its seed.
 *
 * @param few - Runs outside the nightly tier, in place of a tenth, if each takes long.
 */
export function runs(all: number, few = Math.min(all, Math.max(20, Math.ceil(all / 10)))): number {
  return isNightly ? all : few;
}

/** The cases that a landing tries, such as versions of a runtime. The nightly tier tries all. */
export function casesOf<Case>(cases: readonly Case[], landing: (each: Case) => boolean): Case[] {
  return cases.filter((each) => isNightly || landing(each));
}
