import { type Delivery, isItsKey, openSealed, type SealedDelivery } from './delivery.js';
import { refuseOtherScope } from './dispatched.js';
import { UsageError, WebhookError } from './errors.js';
import { unprovenKey } from './key.js';
import { type Dispatched, Rejection } from './outcome.js';
import { describeError } from './printable.js';
import type { Processing } from './processing.js';
import { findDoubt, resign } from './proving.js';
import type { HandlersWork } from './run-handlers.js';
import type { Settings } from './settings.js';

/** What a sealed delivery comes to: itself, or what became of it where it is not to be processed. */
export type Opened = Delivery | Rejection | Dispatched;

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
      refuseOtherScope(this.#settings.scope, sealed);
      const doubt = await findDoubt(this.#settings.secretSource, sealed);
      if (doubt !== undefined)
        return this.#keep(sealed, `it is not proven to be genuine. ${doubt}`);
      isProven = true;
      return await openSealed(sealed, this.#settings, 'queue');
    } catch (error) {
      this.#processing.onError(error, sealed);
      // Of another scope, it is not for this receiver to end.
      if (!lastAttempt || error instanceof UsageError) throw error;
      const reason = describeError(error);
      return isProven && isItsKey(sealed, this.#settings)
        ? this.#processing.hold(sealed, UNSEALED, async () => failed(reason))
        : this.#keep(sealed, reason);
    }
  }

  /** Opens a delivery that the store has kept, which it does for none that was not verified. */
  openStored(stored: SealedDelivery): Promise<Delivery | Rejection> {
    return openSealed(stored, this.#settings, 'store');
  }

  /** Has its queue's worker prove what the store has vouched for, also where the secret was replaced meanwhile. */
  resign(stored: SealedDelivery): Promise<SealedDelivery> {
    return resign(this.#settings.secretSource, stored);
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
  async release(
    kept: SealedDelivery,
    isVouched: boolean,
    process: (delivery: SealedDelivery) => Promise<Dispatched | Rejection>,
  ): Promise<Dispatched | Rejection> {
    const { secretSource } = this.#settings;
    const delivery = { ...kept, proof: kept.proof?.slice(UNPROVEN.length) };
    let result: Dispatched | Rejection | undefined;
    let thrown: { readonly error: unknown } | undefined;
    const prove = async () => {
      const signed = isVouched ? await resign(secretSource, delivery) : delivery;
      const doubt = await findDoubt(secretSource, signed);
      if (doubt !== undefined) return failed(`it is not proven to be genuine. ${doubt}`);
      result = await process(signed);
      const isLeft = 'outcome' in result && LEFT.includes(result.outcome);
      return isLeft ? DONE : failed('it could not be processed');
    };
    const dispatched = await this.#processing.hold(kept, UNSEALED, () =>
      prove().catch((error) => {
        thrown = { error };
        return failed(describeError(error));
      }),
    );
    if (thrown) throw thrown.error;
    return result ?? dispatched;
  }

  /** Under a key of its own, so that it cannot use up that of a genuine one. */
  async #keep(sealed: SealedDelivery, reason: string): Promise<Dispatched | Rejection> {
    const { id, event, body, proof = '' } = sealed;
    const error = new WebhookError(
      'delivery_unproven',
      `A delivery out of the queue is kept and not run: ${reason} If a secret was replaced, name the old ` +
        'one in `retiredSecrets`, and call receiver.redrive() with what store.list() gives.',
    );
    this.#processing.onError(error, sealed);
    const kept = { ...sealed, key: unprovenKey(sealed, body), proof: `${UNPROVEN}${proof}` };
    const dispatched = await this.#processing.hold(kept, UNSEALED, async () => failed(reason));
    // Nobody keeps it, where the store cannot: so the queue has to.
    if (dispatched.outcome !== 'failed') return dispatched;
    return new Rejection('signature_invalid', { id, event, detail: reason });
  }
}

const UNSEALED = { lastAttempt: true, kind: 'invalid' } as const;

/** With these, a delivery is somebody else's by now, or done. */
const LEFT: readonly Dispatched['outcome'][] = [
  'handled',
  'duplicate',
  'ignored',
  'parked',
  'queued',
];

const DONE: HandlersWork = { state: 'done', ran: [] };

function failed(error: string): HandlersWork {
  return { state: 'failed', error, ran: [] };
}
