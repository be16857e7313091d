/** In how many pieces a body may come: one byte a piece would cost far more than its bytes. */
export function maxPieces(limit: number): number {
  return Math.max(10_000, limit / 100);
}
