import { UsageError } from '../errors.js';
import { type Dispatched, Rejection, type Result } from '../outcome.js';
import { harmless } from '../report/harmless.js';
import type { Reporter } from '../report/hooks.js';
import { describeError, findUnknownOption } from '../report/text.js';
import { type Delivery, type SealedDelivery, seal } from '../request/delivery.js';
import { invalidKey } from '../request/key.js';
import { toTitle } from '../request/request.js';
import type { Issue } from '../schemas/issue.js';
import type { Settings } from '../settings.js';
import { warnOfMemory } from '../stores/platform.js';
import { chooseRoutes } from './choosing.js';
import { Confirming } from './confirming.js';
import { type HandOff, handOff } from './hand-off.js';
import { Idempotency } from './idempotency.js';
import { InFlight } from './in-flight.js';
import type { Lease, Work } from './lease.js';
import { markDone } from './mark-done.js';
import { type Route, Router } from './router.js';
import { runHandlers } from './run-handlers.js';

// A short lease, because a sender retries a few times only: a crash must not spend them on 503s.
const TIMING = { leaseMs: 10_000, renewMs: 3_000, waitMs: 3_000 };

/** How a delivery is processed. */
export interface ProcessOptions {
  /** Nobody tries it again: what fails now is dead, where the store can park it. */
  readonly lastAttempt?: boolean | undefined;
}

/** Of which shop an effect is. */
export interface MarkOptions {
  /** Default: the receiver's. Needed where `secret` is a function, which names its own. */
  readonly scope?: string | undefined;
}

/** What is known of a delivery beside what is kept of it. */
interface OnceOptions {
  readonly lastAttempt: boolean;
  readonly payload?: unknown;
}

/** What became of a delivery, or in what its order disagrees with it. */
type Processed = Dispatched & { readonly disagreements?: readonly Issue[] };

/** Steps 4 to 6: what becomes of a verified delivery. */
export class Processing {
  readonly router: Router;
  readonly #settings: Settings;
  readonly #idempotency: Idempotency;
  readonly #inFlight: InFlight<Processed>;
  readonly #confirming: Confirming;
  readonly #reporter: Reporter;
  #isAnnounced = false;

  constructor(settings: Settings, reporter: Reporter) {
    const { store, schemas, timeoutMs } = settings;
    this.#settings = settings;
    this.#reporter = reporter;
    this.router = new Router(schemas.keys());
    this.#inFlight = new InFlight(timeoutMs);
    this.#confirming = new Confirming(settings, (error, delivery) => this.onError(error, delivery));
    this.#idempotency = new Idempotency(store, { ...TIMING, timeoutMs }, (error, subject) =>
      reporter.error(error, subject ?? {}),
    );
  }

  /** Says at the first use what the receiver is. */
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

  /** Finds its handlers, claims it, runs them, and settles the claim. */
  async process(delivery: Delivery, { lastAttempt = false }: ProcessOptions): Promise<Result> {
    const all = this.router.routesFor(delivery);
    const chosen = chooseRoutes(all, delivery, this.#settings.paidStatuses);
    if (chosen.failure) {
      const { error, handler } = chosen.failure;
      this.onError(error, delivery, { handler });
      return lastAttempt
        ? this.#park(delivery, describeError(error))
        : { outcome: 'failed', ran: [] };
    }
    const result = await this.#processBy(chosen.routes, delivery, lastAttempt);
    const { skipped } = chosen;
    return result.outcome === 'rejected' || skipped.length === 0 ? result : { ...result, skipped };
  }

  async #processBy(
    routes: readonly Route[],
    delivery: Delivery,
    lastAttempt: boolean,
  ): Promise<Result> {
    const { key } = delivery;
    if (routes.length === 0) {
      const refused = refusalOf(delivery);
      if (!refused) return { outcome: 'ignored', ran: [], key };
      if (!lastAttempt) return refused;
      const result = await this.#park(delivery, refused.message);
      return result.outcome === 'failed' ? refused : result;
    }
    if (this.#settings.isDefaultStore) warnOfMemory();
    const result: Processed = await this.#inFlight.join(key, () =>
      this.#runOnce(routes, delivery, lastAttempt),
    );
    const { disagreements: issues } = result;
    // Under a key of its own: it may come again once its order agrees with it.
    if (issues) return this.process(toInvalid(delivery, issues), { lastAttempt });
    const isKept = delivery.kind === 'invalid' && result.outcome === 'handled';
    return isKept ? { ...result, outcome: 'parked' } : result;
  }

  /** Runs the handlers under a lease, where the order agrees. It is asked for then, so that a duplicate asks nothing. */
  async #runOnce(
    routes: readonly Route[],
    delivery: Delivery,
    lastAttempt: boolean,
  ): Promise<Processed> {
    const { payload } = delivery;
    let disagreements: readonly Issue[] | undefined;
    const result = await this.doOnce(seal(delivery), { lastAttempt, payload }, async (lease) => {
      const isLeft = routes.some(({ step }) => !Object.hasOwn(lease.steps, step));
      const permission = isLeft ? await this.#confirming.ask(delivery) : undefined;
      if (permission?.state === 'disagreed') disagreements = permission.issues;
      if (permission && permission.state !== 'run') return { state: 'unavailable', ran: [] };
      return this.#run(routes, delivery, lease);
    });
    return disagreements ? { ...result, disagreements } : result;
  }

  /** What no handler can be run for is kept by the store for a person, where it can; else it has failed. */
  #park(delivery: Delivery, error: string): Promise<Dispatched> {
    const { key, payload } = delivery;
    return this.#inFlight.join(key, () =>
      this.doOnce(seal(delivery), { lastAttempt: true, payload }, async () => failedWork(error)),
    );
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
    return this.#inFlight.join(`${how}:${delivery.key}`, async () => {
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
  doOnce(
    delivery: SealedDelivery,
    { lastAttempt, payload }: OnceOptions,
    work: (lease: Lease) => Promise<Work>,
  ): Promise<Dispatched> {
    const onError = (error: unknown, attempt?: number) =>
      this.onError(error, { ...delivery, payload }, { attempt });
    const terms = { keepMs: this.#settings.keepMs, lastAttempt, onError };
    return this.#idempotency.doOnce(delivery, terms, work);
  }

  /**
   * Records that a handler has nothing to do any more for a key of its own.
   *
   * @throws {UsageError} `handler_unknown`, `option_invalid`, `scope_invalid` or `key_invalid`
   * @throws {WebhookError} `store_unavailable` or `delivery_unfinished`
   */
  async markDone(handler: string, key: string, options: MarkOptions): Promise<boolean> {
    const unknown = findUnknownOption('markDone()', options, ['scope']);
    if (unknown) throw unknown;
    const { scope: own } = this.#settings;
    const { scope = own } = options;
    if (typeof scope !== 'string') {
      throw new UsageError(
        'option_invalid',
        'markDone() needs { scope }, a text: the secret function names one for each request.',
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
      onError: (error, handler) =>
        this.onError(error, delivery, { handler, attempt: lease.attempt }),
    });
  }

  /** What the store has still to record, which no sender waits for. */
  get recording(): Promise<unknown> | undefined {
    return this.#idempotency.recording;
  }

  /** Takes no more, waits until nothing is running any more, at most `timeoutMs`, and says whether that is so. */
  close(timeoutMs: number): Promise<boolean> {
    return this.#idempotency.close(timeoutMs, () => this.#inFlight.running);
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

/** A genuine delivery, and in what it contradicts its order. */
function toInvalid(delivery: Delivery, issues: readonly Issue[]): Delivery {
  return { ...delivery, kind: 'invalid', key: invalidKey(delivery, delivery.rawBody), issues };
}

/** What nobody can handle, and is for a person to look at. */
export function failedWork(error: string): Work {
  return { state: 'failed', error, ran: [] };
}

/** A genuine delivery that does not fit its event is refused, where nobody keeps it. */
export function refusalOf({ kind, id, event, issues }: Delivery): Rejection | undefined {
  if (kind !== 'invalid') return undefined;
  return new Rejection('payload_invalid', { verified: true, id, event, issues });
}

/**
 * The handlers of one receiver must not use up what is another one's.
 *
 * @throws {UsageError} `scope_invalid`
 */
export function refuseOtherScope(own: string | undefined, scope: string): void {
  if (own === undefined || own === scope) return;
  throw new UsageError(
    'scope_invalid',
    'This is of another scope than the receiver. Give each receiver a queue of its own, list with { scope }, ' +
      'and redrive, or mark as done, by the receiver of that scope.',
  );
}
