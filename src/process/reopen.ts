import { withDocsLink } from '../errors/docs-link.js';
import { UsageError, WebhookError } from '../errors/errors.js';
import { describeError } from '../errors/text.js';
import {
  type Delivery,
  keyOfSealed,
  openSealed,
  type SealedDelivery,
} from '../request/delivery.js';
import { invalidKey, unprovenKey } from '../request/key.js';
import { Rejection, type Result } from '../request/outcome.js';
import { findDoubt, resign } from '../request/secrets.js';
import { isJsonObject } from '../schemas/values.js';
import { clonePayload } from './handler-event.js';
import type { Work } from './lease.js';
import { type Processing, refuseOtherScope } from './process-delivery.js';
import type { Settings } from './read-options.js';
import { failedWork, isUnkept } from './settled.js';

/** A sealed delivery that was opened; or its result, if it must not be processed. */
export type Opened = Delivery | Result;

/** @throws {UsageError} `delivery_invalid` if the value is not what `store.list` returns. */
export function checkKept(kept: unknown): void {
  if (isKeyed(kept) && 'body' in kept) return;
  throw new UsageError(
    'delivery_invalid',
    'redrive() takes a delivery from store.list(), and not its id.',
  );
}

/** @throws {UsageError} `delivery_invalid` if the value is not a delivery. */
export function checkDelivery(given: unknown): void {
  if (isKeyed(given)) return;
  throw new UsageError(
    'delivery_invalid',
    'dispatch() takes a delivery from verify() or fromJob(), and not a rejection.',
  );
}

function isKeyed(given: unknown): given is { readonly key: unknown } {
  return isJsonObject(given) && 'key' in given;
}

/** Copies a delivery for handlers, which may change its payload: the caller may pass the same delivery again. */
export function copyOf(delivery: Delivery): Delivery {
  return { ...delivery, payload: clonePayload(delivery.payload) };
}

/** Marks the proof of a parked delivery that could not be verified. No other proof begins with it. */
const UNPROVEN = '!';

/**
 * Opens sealed deliveries. A delivery from a queue is verified again; otherwise anyone who can write to the queue
 * could deliver goods.
 */
export class Reopener {
  readonly #settings: Settings;
  readonly #processing: Processing;

  constructor(settings: Settings, processing: Processing) {
    this.#settings = settings;
    this.#processing = processing;
  }

  /**
   * Opens a delivery that comes out of a queue. Throws what a schema or a function of the user throws, and that a
   * function returned something unusable, because the next attempt may succeed. Parks a delivery that cannot be verified, or cannot be read at the last
   * attempt, if the store can park it.
   *
   * @throws {UsageError} `scope_invalid`
   */
  async open(sealed: SealedDelivery, lastAttempt: boolean): Promise<Opened> {
    let isOwn = false;
    let isProven = false;
    try {
      refuseOtherScope(this.#settings.scope, sealed.scope);
      isOwn = true;
      const doubt = await findDoubt(this.#settings.secretSource, sealed);
      if (doubt !== undefined)
        return this.#parkUnproven(sealed, `it could not be verified. ${doubt}`);
      isProven = true;
      return await openSealed(sealed, this.#settings);
    } catch (error) {
      this.#processing.onError(error, sealed);
      // A delivery of another scope is not this receiver's to park.
      if (!lastAttempt || !isOwn) throw error;
      const reason = describeError(error);
      const key = isProven ? keyOfSealed(sealed, this.#settings) : undefined;
      return key === undefined
        ? this.#parkUnproven(sealed, reason)
        : this.#processing.doLast({ ...sealed, key }, async () => failedWork(reason));
    }
  }

  /** Processes a delivery from the store: by the queue's worker if there is one, otherwise by the receiver. */
  async redrive(
    stored: SealedDelivery,
    isVouched: boolean,
    receiver: {
      readonly dispatch: (delivery: SealedDelivery) => Promise<Result>;
      readonly process: (opened: Opened) => Promise<Result>;
    },
  ): Promise<Result> {
    const { queue, secretSource } = this.#settings;
    const toQueue = queue && ((one: SealedDelivery) => this.#processing.redrive(queue, one));
    if (stored.proof?.startsWith(UNPROVEN))
      return this.#redriveUnproven(stored, isVouched, toQueue ?? receiver.dispatch);
    // The store keeps only verified deliveries, except those marked as unproven.
    const found = await openSealed(stored, this.#settings);
    if (toQueue && queue?.redrive) {
      // The worker computes the key itself. If the row has another one, the row is settled as well.
      const { key } = found.outcome ? stored : found;
      const signed = { ...(await resign(secretSource, stored)), key };
      return key === stored.key ? toQueue(signed) : this.#settle(stored, () => toQueue(signed));
    }
    if (found.outcome) return receiver.process(found);
    // A delivery that did not fit its event runs under the key of the genuine one, of which copies may arrive.
    const opened =
      stored.key === invalidKey(found, stored.body) ? found : { ...found, key: stored.key };
    const result = await receiver.process(opened);
    if (opened.key !== stored.key && result.outcome !== 'ignored')
      await this.#settle(stored, async () => result);
    return result;
  }

  /**
   * Processes a delivery that could not be verified before, if it can be verified now.
   *
   * @param isVouched - The operator vouches that the delivery is genuine.
   */
  async #redriveUnproven(
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
        : failedWork(`it could not be verified. ${doubt}`);
    });
  }

  /** Settles a row by the result of its delivery under another key. */
  async #settle(kept: SealedDelivery, process: () => Promise<Result | Work>): Promise<Result> {
    let result: Result | undefined;
    let thrown: { readonly error: unknown } | undefined;
    const prove = async () => {
      const given = await process();
      if ('state' in given) return given;
      result = given;
      return TAKEN.includes(given.outcome) ? DONE : failedWork('it could not be processed');
    };
    const dispatched = await this.#processing.doLast(kept, () =>
      prove().catch((error) => {
        thrown = { error };
        return failedWork(describeError(error));
      }),
    );
    if (thrown) throw thrown.error;
    return result ?? dispatched;
  }

  /** Parks a delivery under a key of its own, so that it cannot use up the key of a genuine one. */
  async #parkUnproven(sealed: SealedDelivery, reason: string): Promise<Result> {
    const { id, event, body, proof = '' } = sealed;
    const error = new WebhookError(
      'delivery_unproven',
      `A delivery from the queue was parked and not run: ${reason} If a secret was replaced, add the old one to ` +
        '`retiredSecrets`, and call receiver.redrive() with the delivery from store.list(). If you know that it is ' +
        'genuine, add { vouched: true }.',
    );
    this.#processing.onError(error, sealed);
    const kept = { ...sealed, key: unprovenKey(sealed, body, proof), proof: `${UNPROVEN}${proof}` };
    const dispatched = await this.#processing.doLast(kept, async () => failedWork(reason));
    if (!isUnkept(dispatched)) return dispatched;
    const detail = withDocsLink(reason, 'errors.md#delivery_unproven');
    return new Rejection('signature_invalid', { id, event, detail });
  }
}

/** The outcomes after which a delivery is done, or stored in the queue or under another key. */
const TAKEN: readonly Result['outcome'][] = ['handled', 'duplicate', 'ignored', 'parked', 'queued'];

const DONE: Work = { state: 'done', ran: [] };
