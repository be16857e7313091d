import { UsageError } from '../errors/errors.js';
import { safely } from '../errors/log.js';
import { describeError, refuseUnknownOption } from '../errors/text.js';
import type { Reporter } from '../report/hooks.js';
import { type Delivery, type SealedDelivery, seal } from '../request/delivery.js';
import { invalidKey } from '../request/key.js';
import { type Dispatched, Rejection, type Result } from '../request/outcome.js';
import { toTitle } from '../request/request.js';
import type { Issue } from '../schemas/issue.js';
import { warnOfMemory } from '../stores/platform.js';
import type { Claimable } from '../stores/store.js';
import { OrderConfirmation } from './confirm.js';
import { DONE_BEFORE, UNAVAILABLE } from './handler-run.js';
import { Idempotency, type OnceTerms } from './idempotency.js';
import { InFlight } from './in-flight.js';
import type { Lease, Work } from './lease.js';
import type { Load } from './load.js';
import { markDone } from './mark-done.js';
import { chooseRoutes, failing } from './matching-handlers.js';
import { type HandOff, handOff } from './queue.js';
import type { Settings } from './read-options.js';
import { type Route, Router } from './router.js';
import { isDoneBefore, runHandlers } from './run-handlers.js';
import { failedWork, isUnkept, toKept } from './settled.js';

// A short lease, because a provider retries only a few times: after a crash, few retries should be answered 503.
const TIMING = { leaseMs: 10_000, renewMs: 3_000, waitMs: 3_000 };

/** The options for processing a delivery. */
export interface ProcessOptions {
  /** No retry follows this attempt. If it fails, the delivery is dead, if the store can park it. */
  readonly lastAttempt?: boolean | undefined;
  /** Whether the sender has disconnected. */
  readonly isGone?: (() => boolean) | undefined;
  /** The key under which the store lists the delivery: it is redriven. */
  readonly storedKey?: string | undefined;
}

/** The options of `markDone()`. */
export interface MarkOptions {
  /** The shop. Default: the scope of the receiver. Required if `secret` is a function, which returns the scope. */
  readonly scope?: string | undefined;
}

/** Runs steps 4 to 6: claims a verified delivery, runs its handlers, and settles the claim. */
export class Processing {
  readonly router: Router;
  readonly #settings: Settings;
  readonly #idempotency: Idempotency;
  readonly #inFlight: InFlight;
  readonly #confirmation: OrderConfirmation;
  readonly #reporter: Reporter;
  readonly #load: Load;
  #isAnnounced = false;

  constructor(settings: Settings, reporter: Reporter, load: Load) {
    const { store, schemas, timeoutMs } = settings;
    this.#settings = settings;
    this.#reporter = reporter;
    this.router = new Router(schemas.keys(), store);
    this.#inFlight = new InFlight(timeoutMs);
    this.#confirmation = new OrderConfirmation(settings, (error, delivery) =>
      this.onError(error, delivery),
    );
    this.#load = load;
    const onError = (error: unknown, subject: Partial<Claimable> = {}) =>
      reporter.error(error, subject);
    this.#idempotency = new Idempotency(store, { ...TIMING, timeoutMs }, load, onError);
  }

  /** Logs the version and configuration of the receiver when it is first used. */
  announce(): void {
    if (this.#isAnnounced) return;
    this.#isAnnounced = true;
    const { headerNames, store, queue } = this.#settings;
    this.#reporter.announce({
      handles: this.router.handled,
      headerPrefix: toTitle(headerNames.prefix),
      store: store.description,
      queue: queue && (queue.description ?? 'your own'),
    });
  }

  /** Finds the handlers of a delivery, claims it, runs them, and settles the claim. */
  async process(delivery: Delivery, how: ProcessOptions): Promise<Result> {
    const all = this.router.routesFor(delivery);
    const { paidStatuses } = this.#settings;
    const { routes, skipped, broken } = chooseRoutes(all, delivery, paidStatuses);
    const [first] = broken;
    // No handler can run, so there is nothing to claim.
    if (first && routes.length === 0) {
      for (const { route, error } of broken) this.onError(error, delivery, { handler: route.name });
      return how.lastAttempt
        ? this.#park(delivery, describeError(first.error))
        : { outcome: 'failed', ran: [] };
    }
    const toRun = first ? [...routes, ...broken.map(failing)] : routes;
    const result = await this.#processBy(toRun, delivery, how);
    return result.outcome === 'rejected' || skipped.length === 0 ? result : { ...result, skipped };
  }

  async #processBy(
    routes: readonly Route[],
    delivery: Delivery,
    how: ProcessOptions,
  ): Promise<Result> {
    const { key } = delivery;
    if (routes.length === 0) {
      const refused = refusalOf(delivery);
      if (!refused) return { outcome: 'ignored', ran: [], key };
      // Parks a delivery out of a queue or a redrive at once: a retry cannot help, and no sender gets the rejection.
      if (!how.lastAttempt && delivery.source !== 'queue') return refused;
      // The store lists it already, and would list it twice.
      if ((how.storedKey ?? key) !== key) return refused;
      const result = await this.#park(delivery, refused.message);
      return isUnkept(result) ? refused : { ...result, issues: delivery.issues };
    }
    if (this.#settings.isDefaultStore) warnOfMemory();
    // A last attempt must not share the result of another one, which is not parked if it fails.
    const result = await this.#inFlight.join(`${key} ${how.lastAttempt}`, () =>
      this.#runOnce(routes, delivery, how),
    );
    const { issues } = result;
    // The invalid delivery has a key of its own, so the delivery can still be handled once its order agrees.
    if (issues) return this.process(toInvalid(delivery, issues), how);
    return delivery.kind === 'invalid' ? { ...toKept(result), issues: delivery.issues } : result;
  }

  /**
   * Runs the handlers under a lease, if the order agrees. The order is looked up after the claim, so that a
   * duplicate causes no request.
   */
  async #runOnce(
    routes: readonly Route[],
    delivery: Delivery,
    how: ProcessOptions,
  ): Promise<Dispatched> {
    const { keepMs, confirm } = this.#settings;
    let issues: readonly Issue[] | undefined;
    // Only a single handler with a transaction, and without `confirm`: while an order is confirmed, no transaction
    // would protect the delivery.
    const [only] = routes;
    const isTransaction = only?.transaction && routes.length === 1 && !confirm;
    const retryUnrecorded = routes.every(({ oncePer, transaction }) => oncePer || transaction);
    const { lastAttempt, isGone } = how;
    const sealed = seal(delivery);
    const onError = this.#reporting(sealed, delivery.payload);
    const terms = { lastAttempt, isGone, isTransaction, retryUnrecorded, keepMs, onError };
    const result = await this.#idempotency.doOnce(sealed, terms, async (lease) => {
      const isDone = () => isDoneBefore(routes, lease, delivery, this.#settings.store);
      const permission = await this.#confirmation.ask(delivery, isDone);
      issues = permission.issues;
      // Runs nothing if all is done, not even if the store forgets that meanwhile: no one has confirmed the order.
      if (permission.state === 'done') return DONE_BEFORE;
      return permission.state === 'run' ? this.#run(routes, delivery, lease) : UNAVAILABLE;
    });
    return issues ? { ...result, issues } : result;
  }

  /** Parks a delivery for which no handler can run. If the store cannot park it, the result is `failed`. */
  #park(delivery: Delivery, error: string): Promise<Dispatched> {
    const { key, payload } = delivery;
    return this.#inFlight.join(key, () =>
      this.doLast(seal(delivery), async () => failedWork(error), payload),
    );
  }

  /** Stores a delivery in the queue, whose worker processes it. */
  enqueue(queue: HandOff, delivery: Delivery): Promise<Dispatched> {
    // Stores also a delivery that has no handler or does not fit its event: the worker decides about those.
    const traceparent = safely(() => this.#settings.telemetry?.traceparent());
    return this.#toQueue(queue, { ...seal(delivery), traceparent }, 'enqueue');
  }

  /** Makes the queue's worker process a delivery again. */
  redrive(queue: HandOff, delivery: SealedDelivery): Promise<Dispatched> {
    return this.#toQueue(queue, delivery, 'redrive');
  }

  #toQueue(
    queue: HandOff,
    delivery: SealedDelivery,
    how: 'enqueue' | 'redrive',
  ): Promise<Dispatched> {
    return this.#inFlight.join(`${how}:${delivery.key}`, async () => {
      if (this.#idempotency.isClosing) return { outcome: 'unavailable', ran: [] };
      const waiting = this.#load.asked();
      try {
        await handOff(queue, delivery, how);
        return { outcome: 'queued', ran: [] };
      } catch (error) {
        this.onError(error, delivery);
        return { outcome: 'unavailable', ran: [] };
      } finally {
        this.#load.answered(waiting);
      }
    });
  }

  /** Does work on a delivery once, as its last attempt, and returns the result. */
  doLast(
    delivery: SealedDelivery,
    work: () => Promise<Work>,
    payload?: unknown,
  ): Promise<Dispatched> {
    const { keepMs } = this.#settings;
    const onError = this.#reporting(delivery, payload);
    return this.#idempotency.doOnce(delivery, { lastAttempt: true, keepMs, onError }, work);
  }

  #reporting(delivery: SealedDelivery, payload: unknown): OnceTerms['onError'] {
    return (error, attempt) => this.onError(error, { ...delivery, payload }, { attempt });
  }

  /**
   * Records that the effect of a handler for a key is done.
   *
   * @throws {UsageError} `handler_unknown`, `option_invalid`, `scope_invalid` or `key_invalid`
   * @throws {WebhookError} `store_unavailable` or `delivery_unfinished`
   */
  async markDone(handler: string, key: string, options: MarkOptions): Promise<boolean> {
    refuseUnknownOption('markDone()', options, ['scope']);
    const { scope: own } = this.#settings;
    const { scope = own } = options;
    if (typeof scope !== 'string') {
      throw new UsageError(
        'option_invalid',
        'markDone() needs { scope }: your secret function returns it.',
      );
    }
    refuseOtherScope(own, scope);
    return markDone(this.router.effectRoute(handler), { scope, key }, this.#idempotency);
  }

  #run(routes: readonly Route[], delivery: Delivery, lease: Lease): Promise<Work> {
    return runHandlers(routes, {
      delivery,
      lease,
      idempotency: this.#idempotency,
      telemetry: this.#settings.telemetry,
      transactions: this.#settings.store.transactions,
      keepMs: this.#settings.keepMs,
      onError: (error, handler) =>
        this.onError(error, delivery, { handler, attempt: lease.attempt }),
    });
  }

  /** How many deliveries the store still has to record as ended. */
  get unrecorded(): number {
    return this.#idempotency.unrecorded;
  }

  /** Settles when all late work has ended; `undefined` if no work is late. */
  get recording(): Promise<unknown> | undefined {
    return this.#reporter.after(this.#idempotency.recording);
  }

  /** Accepts no more work, waits at most `timeoutMs` until all has ended, and returns whether it has. */
  close(timeoutMs: number): Promise<boolean> {
    return this.#idempotency.close(timeoutMs, () => this.#inFlight.running);
  }

  /** Reports an error with the delivery that it concerns. */
  onError(
    error: unknown,
    { id, event, scope, payload }: Named,
    run: { readonly handler?: string; readonly attempt?: number | undefined } = {},
  ): void {
    this.#reporter.error(error, { id, event, scope, payload, ...run });
  }
}

type Named = Pick<Delivery, 'id' | 'event' | 'scope'> & { readonly payload?: unknown };

/** Makes an invalid delivery of one whose order disagrees with it. */
function toInvalid(delivery: Delivery, issues: readonly Issue[]): Delivery {
  return { ...delivery, kind: 'invalid', key: invalidKey(delivery, delivery.rawBody), issues };
}

/** Returns the rejection for a genuine delivery that does not fit its event; `undefined` if it fits. */
export function refusalOf({ kind, id, event, issues }: Delivery): Rejection | undefined {
  if (kind !== 'invalid') return undefined;
  return new Rejection('payload_invalid', { verified: true, id, event, issues });
}

/**
 * Throws if a delivery belongs to another receiver, so that the handlers of this one do not use up its key.
 *
 * @throws {UsageError} `scope_invalid`
 */
export function refuseOtherScope(own: string | undefined, scope: string): void {
  if (own === undefined || own === scope) return;
  throw new UsageError(
    'scope_invalid',
    'This delivery is of another scope than the receiver. Give each receiver its own queue, and use the receiver of ' +
      'that scope.',
  );
}
