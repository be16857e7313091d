import type { Rejection } from '../outcome.js';
import type { Delivery } from '../request/delivery.js';
import type { Recovering } from './logged.js';

/**
 * Asks the store for what is done already. What a recovery, a redrive or a late retry has brought back stands in the
 * log as missed for as long as there is one.
 */
export class DoneBefore {
  readonly #receiver: Recovering;
  #isDown = false;

  constructor(receiver: Recovering) {
    this.#receiver = receiver;
  }

  /** Whether a delivery is done: itself, or all that handlers would do for it. `false` where nobody can say. */
  async has(read: () => Promise<Delivery | Rejection | undefined>): Promise<boolean> {
    if (this.#isDown) return false;
    const keys = await this.#keysOf(read);
    if (!keys) return false;
    try {
      const { own, effects } = keys;
      const asked = [...new Set([own, ...effects])];
      const done = new Set((await this.#receiver.findDone(asked)) ?? []);
      return done.has(own) || (effects.length > 0 && effects.every((key) => done.has(key)));
    } catch {
      // Whoever runs it next is told so.
      this.#isDown = true;
      return false;
    }
  }

  /** `undefined` also where a function of the user's throws: it is told when the delivery is run. */
  async #keysOf(read: () => Promise<Delivery | Rejection | undefined>) {
    try {
      const delivery = await read();
      if (!delivery || delivery.outcome === 'rejected') return undefined;
      const effects = this.#receiver.effectsOf(delivery).map(({ key }) => key);
      return { own: delivery.key, effects };
    } catch {
      return undefined;
    }
  }
}
