import type { Dispatched, Result } from '../outcome.js';
import { harmless } from '../report/harmless.js';
import type { Reporter } from '../report/hooks.js';
import { type Delivery, type SealedDelivery, seal } from '../request/delivery.js';
import { toTitle } from '../request/request.js';
import type { Settings } from '../settings.js';
import { warnOfMemory } from '../stores/durable-stores.js';
import { toDispatched, withoutHandler } from './dispatched.js';
import { type HandOff, handOff } from './hand-off.js';
import type { Idempotency } from './idempotency.js';
import type { Lease } from './lease.js';
import type { Route, Router } from './router.js';
import { type HandlersWork, runHandlers } from './run-handlers.js';

/** How a delivery is processed. */
export interface ProcessOptions {
  /** Nobody tries it again: what fails now is dead, where the store can park it. */
  readonly lastAttempt?: boolean | undefined;
  /** What the platform offers, where the default store cannot do. */
  readonly durableStores?: string | undefined;
}

/** What is known of a delivery beside what is kept of it. */
interface HoldOptions extends Pick<Delivery, 'kind'> {
  readonly lastAttempt: boolean;
  readonly payload?: unknown;
}

/** Steps 4 to 6: what becomes of a verified delivery. */
export class Processing {
  readonly #settings: Settings;
  readonly #router: Router;
  readonly #idempotency: Idempotency;
  readonly #reporter: Reporter;
  #isAnnounced = false;

  constructor(settings: Settings, router: Router, idempotency: Idempotency, reporter: Reporter) {
    this.#settings = settings;
    this.#router = router;
    this.#idempotency = idempotency;
    this.#reporter = reporter;
  }

  /** Says at the first use what the receiver is. */
  announce(): void {
    if (this.#isAnnounced) return;
    this.#isAnnounced = true;
    const { headerPrefix, store, queue } = this.#settings;
    this.#reporter.announce({
      handles: this.#router.handled,
      headerPrefix: toTitle(headerPrefix),
      store: store.description,
      queue: queue && (queue.description ?? 'your own'),
    });
  }

  /** Claims it, runs its handlers, and settles the claim. */
  async process(
    delivery: Delivery,
    { lastAttempt = false, durableStores }: ProcessOptions,
  ): Promise<Result> {
    const routes = this.#router.routesFor(delivery);
    const refused = routes.length === 0 ? withoutHandler(delivery) : undefined;
    if (routes.length === 0 && !refused) {
      return { outcome: 'ignored', ran: [], key: delivery.key };
    }
    if (refused && !lastAttempt) return refused;
    if (this.#settings.isDefaultStore) warnOfMemory(durableStores);
    const dispatched = await this.#idempotency.join(delivery.key, () =>
      this.hold(seal(delivery), { ...delivery, lastAttempt }, (lease) =>
        refused ? failed(refused.message) : this.#run(routes, delivery, lease),
      ),
    );
    return refused && dispatched.outcome === 'failed' ? refused : dispatched;
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
        this.onError(error, delivery);
        return { outcome: 'unavailable', ran: [] };
      }
    });
  }

  /** Does work on a delivery once, and says what became of it. */
  async hold(
    delivery: SealedDelivery,
    { lastAttempt, kind, payload }: HoldOptions,
    work: (lease: Lease) => Promise<HandlersWork>,
  ): Promise<Dispatched> {
    const terms = { keepMs: this.#settings.keepMs, lastAttempt };
    const held = await this.#idempotency.hold(delivery, terms, work);
    if ('error' in held) {
      const attempt = 'attempt' in held ? held.attempt : undefined;
      this.onError(held.error, { ...delivery, payload }, { attempt });
    }
    return { ...toDispatched(held, kind), key: delivery.key };
  }

  #run(routes: readonly Route[], delivery: Delivery, lease: Lease): Promise<HandlersWork> {
    return runHandlers(routes, {
      delivery,
      lease,
      idempotency: this.#idempotency,
      telemetry: this.#settings.telemetry,
      onError: (error, handler) =>
        this.onError(error, delivery, { handler, attempt: lease.attempt }),
    });
  }

  /** Tells what has gone wrong with a delivery. */
  onError(
    error: unknown,
    { id, event, scope, payload }: Named,
    run: { readonly handler?: string; readonly attempt?: number | undefined } = {},
  ): void {
    this.#reporter.error(error, { id, event, scope, payload, ...run });
  }
}

type Named = Pick<Delivery, 'id' | 'event' | 'scope'> & { readonly payload?: unknown };

/** What nobody can handle, and is for a person to look at. */
async function failed(error: string): Promise<HandlersWork> {
  return { state: 'failed', error, ran: [] };
}
