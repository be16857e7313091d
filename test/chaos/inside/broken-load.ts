import { Load } from '../../../src/process/load.js';

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
