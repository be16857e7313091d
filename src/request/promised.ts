/** Says of a promise, where a value was needed at once, what to do about it; nothing of anything else. */
export function hintAtPromise(given: unknown): string {
  const isPromise = typeof given === 'object' && given !== null && 'then' in given;
  if (!isPromise) return '';
  // Nobody else looks at it: one that rejected would end the process.
  Promise.resolve(given).catch(() => {});
  return ', and not a promise of one: take the async away';
}
