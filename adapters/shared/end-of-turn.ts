import { setImmediate } from 'node:timers';

// Kept from before anybody's fake timers.
const afterThisTurn = setImmediate;
let turn: Promise<void> | undefined;

/**
 * Waits for the end of this turn of the event loop, so that the answers of one turn leave together: to
 * wake a proxy on the same machine for each of them takes longer than to handle the delivery.
 */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    afterThisTurn(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}
