import { Load } from '../../../src/process/load.js';

/** Plants a fault in how a receiver sheds, where `CHAOS_BREAK` says so, to see that `overload` finds it. */
export function breakLoad(): void {
  switch (process.env.CHAOS_BREAK) {
    case 'unbounded':
      // Takes whatever comes.
      Load.prototype.refuse = () => undefined;
      Load.prototype.waitForTurn = () => undefined;
      break;
    case 'timid':
      // Takes less than it can do.
      Load.prototype.refuse = function (this: Load) {
        const isBusy = this.inHand > 8;
        return isBusy ? { outcome: 'unavailable', ran: [], retryAfterMs: 2_000 } : undefined;
      };
      break;
  }
}
