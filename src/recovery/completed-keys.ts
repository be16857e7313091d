import type { Delivery } from '../request/delivery.js';
import type { Rejection } from '../request/outcome.js';
import type { Recovering } from './log-reader.js';

/**
 * Asks the store which deliveries are already done. The log goes on listing a delivery as missed after a
 * recovery, a redrive or a late retry has processed it.
 */
export class DoneBefore {
  readonly #receiver: Recovering;
  #isDown = false;

  constructor(receiver: Recovering) {
    this.#receiver = receiver;
  }

  /** Whether the store can answer: `false` after it has failed, or if it has no `isDone`. */
  get canSay(): boolean {
    return !this.#isDown;
  }

  /**
   * Returns whether a delivery is done: under its own key, or under the keys of all its handlers. `false` if
   * the store cannot answer.
   *
   * @param otherKey - Returns another key that the delivery may have had.
   */
  async has(
    read: () => Promise<Delivery | Rejection | undefined>,
    otherKey?: () => string,
  ): Promise<boolean> {
    if (this.#isDown) return false;
    const keys = await this.#keysOf(read);
    if (!keys) return false;
    try {
      const { own, effects, fits } = keys;
      const other = otherKey?.() ?? own;
      const asked = [...new Set([own, other, ...effects])];
      const found = await this.#receiver.findDone(asked);
      // Another question, asked at the same time, may have failed.
      this.#isDown ||= found === undefined;
      const done = new Set(found);
      // A delivery that `onInvalid` has kept is done under its own key, and no handler has run.
      if (!fits) done.delete(own);
      return (
        done.has(own) ||
        done.has(other) ||
        (effects.length > 0 && effects.every((key) => done.has(key)))
      );
    } catch {
      this.#isDown = true;
      return false;
    }
  }

  /**
   * Returns whether each handler of a delivery has a key of its own (`oncePer`), so that another delivery of
   * the same thing does not repeat it. `false` if the delivery is rejected.
   */
  async isOncePer(read: () => Promise<Delivery | Rejection | undefined>): Promise<boolean> {
    const keys = await this.#keysOf(read);
    return keys !== undefined && !keys.effects.includes(keys.own);
  }

  /**
   * Returns whether no handler matches a delivery. `false` if a user's function throws, or if a worker has
   * the handlers.
   */
  async isIgnored(read: () => Promise<Delivery | Rejection | undefined>): Promise<boolean> {
    if (this.#receiver.isFront) return false;
    const keys = await this.#keysOf(read);
    return keys?.fits === true && keys.effects.length === 0;
  }

  /**
   * Returns `undefined` if the delivery is rejected or a user's function throws. That error is reported when
   * the delivery is run.
   */
  async #keysOf(read: () => Promise<Delivery | Rejection | undefined>) {
    try {
      const delivery = await read();
      if (!delivery || delivery.outcome === 'rejected') return undefined;
      const effects = this.#receiver.effectsOf(delivery).map(({ key }) => key);
      return { own: delivery.key, effects, fits: delivery.kind !== 'invalid' };
    } catch {
      return undefined;
    }
  }
}
