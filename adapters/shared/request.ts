/**
 * Returns the largest number of pieces for a body: in pieces of one byte, it would cost far more than its bytes.
 */
export function maxPieces(limit: number): number {
  return Math.max(10_000, limit / 100);
}

/** The error for a body in too many pieces: 408, because a sender of single bytes is as slow as a silent one. */
export function tooManyPieces(): Error {
  return Object.assign(new Error('The body comes in too many pieces.'), { status: 408 });
}

/** Returns path and query of an absolute or relative address, as sent: the `Host` header can hold anything. */
export function toPath(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] ?? url;
}
