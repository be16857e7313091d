import { Load } from '../../../src/process/load.js';
import { GUESSED } from '../sender.js';

/** Breaks the load limit of a receiver as `CHAOS_BREAK` requires, to check that `overload` detects it. */
export function breakLoad(): void {
  switch (process.env.CHAOS_BREAK) {
    case 'unbounded':
      // Accepts everything.
      Load.prototype.refuse = () => undefined;
      Load.prototype.waitForTurn = () => undefined;
      break;
    case 'timid':
      // Rejects deliveries although it could handle more.
      Load.prototype.refuse = function (this: Load) {
        const isBusy = this.inHand > 8;
        return isBusy ? { outcome: 'unavailable', ran: [], retryAfterMs: 2_000 } : undefined;
      };
      break;
  }
}

/** The secret of the shop; with `CHAOS_BREAK=forged`, also the one that the forger guesses. */
export function secrets(): readonly string[] {
  const secret = process.env.CHAOS_SECRET ?? '';
  return process.env.CHAOS_BREAK === 'forged' ? [secret, GUESSED] : [secret];
}
