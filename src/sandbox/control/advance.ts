import type { Market } from '../trade/market.js';

/**
 * Moves the time of an account ahead. What is being sent is waited for first, so that its retry is among what is due
 * on the way.
 */
export async function advance({ account, outbox }: Market, ms: number): Promise<void> {
  await outbox.idle();
  await account.clock.advance(ms);
}
