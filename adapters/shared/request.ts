/** In how many pieces a body may come: one byte a piece would cost far more than its bytes. */
export function maxPieces(limit: number): number {
  return Math.max(10_000, limit / 100);
}

/** Whoever sends a byte at a time is as slow as who sends none. */
export function tooManyPieces(): Error {
  return Object.assign(new Error('The body comes in too many pieces.'), { status: 408 });
}

/** Path and query of an address, whole or not, as they were sent: `Host` may be anything or nothing. */
export function toPath(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] ?? url;
}
