/**
 * How many a caller gets who asks for so many, in every store: whole ones, at least 0, and no more than
 * any database can count. What is no number is 0, so that a mistake gives nothing instead of all.
 */
export function toLimit(limit: number): number {
  // Plain JavaScript may pass anything, and nothing is smaller or greater than NaN.
  if (typeof limit !== 'number' || Number.isNaN(limit)) return 0;
  return Math.min(Math.max(Math.floor(limit), 0), Number.MAX_SAFE_INTEGER);
}
