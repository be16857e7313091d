import {
  type Delivery,
  type KeptDelivery,
  openSealed,
  type SealedDelivery,
  seal,
  toSealed,
} from './delivery.js';
import { refuseOtherScope, toDispatched, withoutHandler } from './dispatched.js';
import { UsageError } from './errors.js';
import { type HandOff, handOff } from './hand-off.js';
import { nameOf, type Reporter } from './hooks.js';
import type { Idempotency } from './idempotency.js';
import type { Lease } from './lease.js';
import { warnOfMemory } from './log.js';
import type { Settings } from './options.js';
import type { Dispatched, Rejection } from './outcome.js';
import { describeError } from './printable.js';
import type { Route, Router } from './router.js';
import { type HandlersWork, runHandlers } from './run-handlers.js';
import { harmless } from './telemetry.js';

/** How a delivery is processed. */
export interface ProcessOptions {
  /** Nobody tries it again: what fails now is dead, where the store can park it. */
  readonly lastAttempt?: boolean | undefined;
  /** What the platform offers, where the default store cannot do. */
  readonly durableStores?: string | undefined;
}

/** Steps 4 to 6: what becomes of a verified delivery. */
export class Processing {
  readonly #settings: Settings;
  readonly #router: Router;
  readonly #idempotency: Idempotency;
  readonly #reporter: Reporter;

  constructor(settings: Settings, router: Router, idempotency: Idempotency, reporter: Reporter) {
    this.#settings = settings;
    this.#router = router;
    this.#idempotency = idempotency;
    this.#reporter = reporter;
  }

  /** Claims it, runs its handlers, and settles the claim. */
  async process(
    delivery: Delivery,
    { lastAttempt = false, durableStores }: ProcessOptions,
  ): Promise<Dispatched | Rejection> {
    const routes = this.#router.routesFor(delivery);
    const refused = routes.length === 0 ? withoutHandler(delivery) : undefined;
    if (routes.length === 0 && !refused) return { outcome: 'ignored', ran: [] };
    if (refused && !lastAttempt) return refused;
    if (this.#settings.isDefaultStore) warnOfMemory(durableStores);
    const dispatched = await this.#idempotency.join(delivery.key, () =>
      this.#hold(seal(delivery), { lastAttempt, kind: delivery.kind }, (lease) =>
        refused ? failed(refused.message) : this.#run(routes, delivery, lease),
      ),
    );
    return refused && dispatched.outcome === 'failed' ? refused : dispatched;
  }

  /**
   * Reads a delivery that comes out of a queue. Throws what a schema of the user's throws: perhaps it does
   * not the next time. What cannot be read at the last attempt is kept for a person, where the store can.
   */
  async open(kept: KeptDelivery, lastAttempt: boolean): Promise<Delivery | Rejection | Dispatched> {
    const sealed = toSealed(kept);
    try {
      refuseOtherScope(this.#settings.scope, sealed);
      return await openSealed(sealed, this.#settings);
    } catch (error) {
      this.#onError(error, sealed);
      // Of another scope, it is not for this receiver to end.
      if (!lastAttempt || error instanceof UsageError) throw error;
      const parked = { lastAttempt, kind: 'invalid' } as const;
      return this.#hold(sealed, parked, () => failed(describeError(error)));
    }
  }

  /** Has it stored by the queue, whose worker processes it. */
  enqueue(queue: HandOff, delivery: Delivery): Promise<Dispatched> {
    // Also what nobody handles here, or does not fit its event: that is for the worker to say.
    const traceparent = harmless(() => this.#settings.telemetry?.traceparent());
    return this.#toQueue(queue, { ...seal(delivery), traceparent }, 'enqueue');
  }

  /** Has it processed by the queue's worker once more. */
  redrive(queue: HandOff, delivery: SealedDelivery): Promise<Dispatched> {
    return this.#toQueue(queue, delivery, 'redrive');
  }

  #toQueue(
    queue: HandOff,
    delivery: SealedDelivery,
    how: 'enqueue' | 'redrive',
  ): Promise<Dispatched> {
    return this.#idempotency.join(`${how}:${delivery.key}`, async () => {
      if (this.#idempotency.isClosing) return { outcome: 'unavailable', ran: [] };
      try {
        await handOff(queue, delivery, how);
        return { outcome: 'queued', ran: [] };
      } catch (error) {
        this.#onError(error, delivery);
        return { outcome: 'unavailable', ran: [] };
      }
    });
  }

  async #hold(
    delivery: SealedDelivery,
    { lastAttempt, kind }: { readonly lastAttempt: boolean; readonly kind: Delivery['kind'] },
    work: (lease: Lease) => Promise<HandlersWork>,
  ): Promise<Dispatched> {
    const terms = { keepMs: this.#settings.keepMs, lastAttempt };
    const held = await this.#idempotency.hold(delivery, terms, work);
    if ('error' in held) this.#onError(held.error, delivery);
    return toDispatched(held, kind);
  }

  #run(routes: readonly Route[], delivery: Delivery, lease: Lease): Promise<HandlersWork> {
    return runHandlers(routes, {
      delivery,
      lease,
      idempotency: this.#idempotency,
      telemetry: this.#settings.telemetry,
      onError: (error, handler) => this.#onError(error, delivery, handler),
    });
  }

  #onError(error: unknown, delivery: Named, handler?: string): void {
    this.#reporter.error(error, { ...nameOf(delivery), handler });
  }
}

type Named = Pick<Delivery, 'id' | 'event' | 'scope'>;

/** What nobody can handle, and is for a person to look at. */
async function failed(error: string): Promise<HandlersWork> {
  return { state: 'failed', error, ran: [] };
}
