import { UsageError, WebhookError } from '../errors.js';
import { explained } from '../explained.js';
import { type Dispatched, Rejection, type Result } from '../outcome.js';
import { describeError } from '../report/text.js';
import {
  type Delivery,
  keyOfSealed,
  openSealed,
  type SealedDelivery,
} from '../request/delivery.js';
import { unprovenKey } from '../request/key.js';
import { findDoubt, resign } from '../request/proving.js';
import type { Settings } from '../settings.js';
import type { Work } from './lease.js';
import { failedWork, type Processing, refuseOtherScope } from './processing.js';

/** What a sealed delivery comes to: itself, or what became of it where it is not to be processed. */
export type Opened = Delivery | Result;

/** @throws {UsageError} `delivery_invalid` where it is not what a store lists. */
export function checkKept(kept: unknown): void {
  if (isKeyed(kept) && 'body' in kept) return;
  throw new UsageError(
    'delivery_invalid',
    "redrive() takes a delivery as store.list({ state: 'dead' }) gives it, and not its id.",
  );
}

/** @throws {UsageError} `delivery_invalid` where it is no delivery. */
export function checkDelivery(given: unknown): void {
  if (isKeyed(given)) return;
  throw new UsageError(
    'delivery_invalid',
    "dispatch() takes a delivery, as verify() or fromJob() gives it. Of verify(), look at its outcome first: where that is 'rejected', there is none.",
  );
}

function isKeyed(given: unknown): given is { readonly key: unknown } {
  return typeof given === 'object' && given !== null && 'key' in given;
}

/** Marks what is kept because it is not proven. No proof begins so. */
const UNPROVEN = '!';

/** Reads sealed deliveries again. Those out of a queue are proven anew: whoever writes to it could deliver otherwise. */
export class Unsealing {
  readonly #settings: Settings;
  readonly #processing: Processing;

  constructor(settings: Settings, processing: Processing) {
    this.#settings = settings;
    this.#processing = processing;
  }

  /**
   * Opens a delivery that comes out of a queue. Throws what a schema or a `secret` function of the user's
   * throws: perhaps it does not the next time. What is not proven, and what cannot be read at the last
   * attempt, is kept for a person, where the store can.
   *
   * @throws {UsageError} `scope_invalid`
   */
  async open(sealed: SealedDelivery, lastAttempt: boolean): Promise<Opened> {
    let isProven = false;
    try {
      refuseOtherScope(this.#settings.scope, sealed.scope);
      const doubt = await findDoubt(this.#settings.secretSource, sealed);
      if (doubt !== undefined)
        return this.#parkUnproven(sealed, `it is not proven to be genuine. ${doubt}`);
      isProven = true;
      return await openSealed(sealed, this.#settings, 'queue');
    } catch (error) {
      this.#processing.onError(error, sealed);
      // Of another scope, it is not for this receiver to end.
      if (!lastAttempt || error instanceof UsageError) throw error;
      const reason = describeError(error);
      const key = isProven ? keyOfSealed(sealed, this.#settings) : undefined;
      return key === undefined
        ? this.#parkUnproven(sealed, reason)
        : this.#processing.doOnce({ ...sealed, key }, LAST_ATTEMPT, async () => failedWork(reason));
    }
  }

  /** Opens a delivery that the store has kept, which it does for none that was not verified. */
  openStored(stored: SealedDelivery): Promise<Delivery | Rejection> {
    return openSealed(stored, this.#settings, 'store');
  }

  /**
   * Hands a delivery that the store has kept back to the queue, whose worker knows it by the key that it
   * makes itself. A row under another key, as of one that did not fit its event then, is done with that.
   */
  async handBack(
    stored: SealedDelivery,
    redrive: (delivery: SealedDelivery) => Promise<Dispatched>,
  ): Promise<Result> {
    const signed = await resign(this.#settings.secretSource, stored);
    const opened = await openSealed(signed, this.#settings, 'queue');
    if (opened.outcome === 'rejected' || opened.key === stored.key) return redrive(signed);
    return this.#settle(stored, () => redrive({ ...signed, key: opened.key }));
  }

  /** Whether a delivery is kept because it was not proven. */
  isUnproven({ proof }: SealedDelivery): boolean {
    return proof?.startsWith(UNPROVEN) ?? false;
  }

  /**
   * Has a delivery processed that was not proven, if it is now.
   *
   * @param isVouched - A person says that it is genuine.
   */
  async redriveUnproven(
    kept: SealedDelivery,
    isVouched: boolean,
    process: (delivery: SealedDelivery) => Promise<Result>,
  ): Promise<Result> {
    const { secretSource } = this.#settings;
    const delivery = { ...kept, proof: kept.proof?.slice(UNPROVEN.length) };
    return this.#settle(kept, async () => {
      const signed = isVouched ? await resign(secretSource, delivery) : delivery;
      const doubt = await findDoubt(secretSource, signed);
      return doubt === undefined
        ? process(signed)
        : failedWork(`it is not proven to be genuine. ${doubt}`);
    });
  }

  /** Has a row settled by what becomes of its delivery under another key. */
  async #settle(kept: SealedDelivery, process: () => Promise<Result | Work>): Promise<Result> {
    let result: Result | undefined;
    let thrown: { readonly error: unknown } | undefined;
    const prove = async () => {
      const given = await process();
      if ('state' in given) return given;
      result = given;
      return TAKEN.includes(given.outcome) ? DONE : failedWork('it could not be processed');
    };
    const dispatched = await this.#processing.doOnce(kept, LAST_ATTEMPT, () =>
      prove().catch((error) => {
        thrown = { error };
        return failedWork(describeError(error));
      }),
    );
    if (thrown) throw thrown.error;
    return result ?? dispatched;
  }

  /** Parks it under a key of its own, so that it cannot use up that of a genuine one. */
  async #parkUnproven(sealed: SealedDelivery, reason: string): Promise<Result> {
    const { id, event, body, proof = '' } = sealed;
    const error = new WebhookError(
      'delivery_unproven',
      `A delivery out of the queue is kept and not run: ${reason} If a secret was replaced, name the old ` +
        'one in `retiredSecrets`, and call receiver.redrive() with what store.list() gives; where you know that it is genuine, with ' +
        '{ vouched: true }.',
    );
    this.#processing.onError(error, sealed);
    const kept = { ...sealed, key: unprovenKey(sealed, body, proof), proof: `${UNPROVEN}${proof}` };
    const dispatched = await this.#processing.doOnce(kept, LAST_ATTEMPT, async () =>
      failedWork(reason),
    );
    // Nobody keeps it, where the store cannot: so the queue has to.
    if (dispatched.outcome !== 'failed') return dispatched;
    const detail = explained(reason, 'errors.md#delivery_unproven');
    return new Rejection('signature_invalid', { id, event, detail });
  }
}

const LAST_ATTEMPT = { lastAttempt: true };

/** With these outcomes, a delivery is somebody else's by now, or done. */
const TAKEN: readonly Result['outcome'][] = ['handled', 'duplicate', 'ignored', 'parked', 'queued'];

const DONE: Work = { state: 'done', ran: [] };
