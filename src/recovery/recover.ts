import { ApiError } from '../api/api-error.js';
import { pause } from '../api/waiting.js';
import type { Rejection, Result } from '../outcome.js';
import type { Delivery } from '../request/delivery.js';
import { deleteDisabled, type EndpointState, findEndpoint, recreateEndpoint } from './endpoint.js';
import { type LogCounts, type Missed, readEntry, readLog } from './missed.js';
import { type RecoverOptions, type RecoverSettings, readRecoverOptions } from './options.js';
import { findUnlogged, type Unlogged } from './orders.js';
import { LATER, Pace } from './pace.js';
import { PER_PAGE } from './paging.js';
import type { Recovered, RecoveredOutcome } from './recovered.js';

/** What {@link recover} has found and done. */
export interface Recovery {
  readonly applied: boolean;
  /** How many entries of the log there were, by what they mean. Where orders are compared, `unreadable` has theirs. */
  readonly log: LogCounts;
  readonly endpoint: EndpointState;
  /** Those of `url` for which the provider has no endpoint: it sends nothing there. */
  readonly withoutEndpoint: readonly string[];
  /** In the order in which they were run. */
  readonly deliveries: readonly Recovered[];
  /**
   * Whether nothing is left but what the provider still sends by itself, `log.waiting`, and what your queue is
   * to do, `log.queued`.
   */
  readonly complete: boolean;
  /** How many requests it took. */
  readonly requests: number;
}

/**
 * Brings back what a receiver has missed while it was down. Reads the provider's log, finds what this receiver never
 * answered with success, and runs it through the same handlers under the same key: what was done is not done
 * again, and a retry that comes later is a duplicate. Run it as often as you like; killed, it goes on where
 * the store says it is.
 *
 * Without `apply`, it only lists. Oldest first; a change of an order waits for the one before it.
 * Deliveries have the `source` `'log'`: they are trusted because they came over the authenticated API.
 *
 * Rejects with a `UsageError`, `option_invalid`; with an `ApiError` where the provider refuses, or cannot
 * be asked for some minutes.
 *
 * @example
 * const auth = { accessToken: process.env.ACCESS_TOKEN };
 * const client = createClient({ baseUrl: 'https://shop.example', auth });
 * const { deliveries, complete } = await recover({ receiver, client, url: 'https://me.example/webhooks', apply: true });
 */
export async function recover(options: RecoverOptions): Promise<Recovery> {
  const settings = readRecoverOptions(options);
  const { apply, queued } = settings;
  const pace = new Pace(settings);
  const found = await findEndpoint(settings, pace);
  // First: what is paid from now on is told to the new one. The old one goes last, so that who is killed in
  // between sees that orders are still to be compared, and that no retry of the old one comes.
  const endpoint = settings.recreateEndpoint
    ? await recreateEndpoint(found, settings, pace)
    : found;
  const sends = found.state === 'enabled' && found.disabled.length === 0;
  const comparesOrders = settings.orders ?? !sends;
  const log = await readLog(settings, pace, { sends, orders: comparesOrders, queued });
  const { unlogged, waiting, unreadable } = log.told
    ? await findUnlogged(settings, pace, log.told, sends)
    : NONE_UNLOGGED;
  const counts = {
    ...log.counts,
    waiting: log.counts.waiting + waiting,
    unreadable: log.counts.unreadable + unreadable,
  };
  const missed = [...log.missed.values(), ...unlogged].sort(inOrder);
  const deliveries = await new Running(settings, pace, sends).run(missed);
  const isComplete =
    deliveries.every(({ outcome }) => DONE.includes(outcome)) &&
    // To one that is disabled, nothing is sent again.
    counts.unreadable + counts.unknownShop + (sends ? 0 : counts.waiting) === 0;
  if (settings.recreateEndpoint && isComplete) await deleteDisabled(endpoint, settings, pace);
  const isSent = endpoint.state === 'enabled';
  return {
    applied: apply,
    log: counts,
    withoutEndpoint: endpoint.without,
    endpoint: isSent && found.state === 'disabled' ? 'recreated' : endpoint.state,
    deliveries,
    complete: isComplete && isSent,
    requests: pace.requests,
  };
}

const NONE_UNLOGGED: Unlogged = { unlogged: [], waiting: 0, unreadable: 0 };

const DONE: readonly RecoveredOutcome[] = ['handled', 'duplicate', 'ignored', 'settled'];

function inOrder(a: Missed, b: Missed): number {
  return a.changedAt - b.changedAt || a.toldAt - b.toldAt || (a.id < b.id ? -1 : 1);
}

/** A later change has to wait where one ended so. Where the store is down, all do. */
const NOT_NOW: readonly RecoveredOutcome[] = ['failed', 'busy', 'unavailable'];
/** How often what is busy or unavailable is tried, and how many in a row may be unavailable. */
const MAX_TRIES = 5;
const MAX_UNAVAILABLE = 3;
/** How often the provider is asked for one, before it is asked whether it answers at all. */
const MAX_ASKED = 3;
const MAX_PAUSE_MS = 10_000;

/** Runs what was missed, one after the other. */
class Running {
  readonly #settings: RecoverSettings;
  readonly #pace: Pace;
  readonly #sends: boolean;
  readonly #held = new Set<string>();
  /** How many in a row were unavailable: once the store is down, nothing else is tried. */
  #unavailable = 0;

  constructor(settings: RecoverSettings, pace: Pace, sends: boolean) {
    this.#settings = settings;
    this.#pace = pace;
    this.#sends = sends;
  }

  async run(missed: readonly Missed[]): Promise<Recovered[]> {
    const { apply, onProgress } = this.#settings;
    const recovered: Recovered[] = [];
    // What is stopped before the first has that many left.
    onProgress({ step: 'deliveries', done: 0, of: missed.length });
    for (const one of missed) {
      const outcome = apply ? await this.#runOne(one) : this.#list(one);
      if (NOT_NOW.includes(outcome) && one.recordId !== undefined) this.#held.add(one.recordId);
      const { id, event, reason, recordId, toldAt, value, currency } = one;
      const about = { id, event, reason, recordId, toldAt: new Date(toldAt), value, currency };
      const delivery = { ...about, outcome };
      recovered.push(delivery);
      onProgress({ step: 'deliveries', done: recovered.length, of: missed.length, delivery });
    }
    return recovered;
  }

  #list({ reason, isDone }: Missed): RecoveredOutcome {
    if (isDone) return 'duplicate';
    const isUnsafe = reason === 'unlogged' && !this.#isSafe();
    return isUnsafe ? 'unsafe' : 'listed';
  }

  async #runOne(one: Missed): Promise<RecoveredOutcome> {
    if (one.isDone) return 'duplicate';
    if (this.#unavailable === MAX_UNAVAILABLE) return 'unavailable';
    if (one.recordId !== undefined && this.#held.has(one.recordId)) return 'held';
    // Somebody may have done it since it was read: the provider, by a retry, or another recovery.
    const now = await this.#findNow(one);
    return typeof now === 'string' ? now : this.#process(now);
  }

  async #findNow(one: Missed): Promise<Delivery | RecoveredOutcome> {
    const { client, signal, receiver, urls } = this.#settings;
    const options = { onIssues() {}, ...(signal && { signal }) };
    try {
      if (one.reason === 'unlogged') {
        if (!this.#isSafe()) return 'unsafe';
        const order = await this.#ask(() => client.orders.get(one.id, options));
        if (order.id !== one.id) return 'gone';
        if (!receiver.isPaid(order)) return 'settled';
        return this.#read(one, () => receiver.readOrder(order, urls[0] ?? ''));
      }
      const entry = await this.#ask(() => client.webhookLogs.get(one.id, options));
      // Not what was asked for, as out of a cache that does not look at the address.
      if (entry.id !== one.id) return 'gone';
      const found = await readEntry(entry, this.#settings, this.#sends);
      if (typeof found === 'string') return 'rejected';
      if (found.event !== one.event || found.recordId !== one.recordId) return 'gone';
      if (!found.missed) return 'settled';
      return this.#read(one, found.delivery);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ApiError && error.code === 'not_found') return 'gone';
      // It may be about this one alone: then the others are not to wait for it.
      if (error instanceof ApiError) await this.#askForAny();
      receiver.onError(error, one);
      return 'failed';
    }
  }

  /** Asks for one, and once more where that fails and the provider answers to others. */
  async #ask<Found>(request: () => Promise<Found>): Promise<Found> {
    try {
      return await this.#pace.run(request, MAX_ASKED);
    } catch (error) {
      if (!(error instanceof ApiError && LATER.includes(error.code))) throw error;
      await this.#askForAny();
      return this.#pace.run(request, MAX_ASKED);
    }
  }

  /** Waits until the provider answers at all. */
  async #askForAny(): Promise<void> {
    const { client, signal } = this.#settings;
    const options = { onIssues() {}, ...(signal && { signal }) };
    await this.#pace.run(async () => client.webhookLogs.list({ ...options, perPage: PER_PAGE }));
  }

  /** Whether an order that no log tells of can be run: what tells of it later must not deliver it again. */
  #isSafe(): boolean {
    const { receiver, urls } = this.#settings;
    // Of several shops, nobody says whose it is.
    return receiver.isOncePerOrder() && !(receiver.findsShop && urls.length > 1);
  }

  /** What a function of the user's throws ends this one alone, as it does for a webhook. */
  async #read(
    about: Missed,
    read: () => Promise<Delivery | Rejection | undefined>,
  ): Promise<Delivery | RecoveredOutcome> {
    try {
      const delivery = await read();
      return delivery?.outcome === undefined ? (delivery ?? 'rejected') : 'rejected';
    } catch (error) {
      this.#settings.receiver.onError(error, about);
      return 'failed';
    }
  }

  async #process(delivery: Delivery): Promise<RecoveredOutcome> {
    const { receiver, signal } = this.#settings;
    let result: Result;
    for (let tried = 1; ; tried++) {
      result = await receiver.process(delivery);
      if (result.outcome !== 'busy' && result.outcome !== 'unavailable') break;
      if (tried === MAX_TRIES || this.#unavailable > 0) break;
      const { retryAfterMs = 500 } = result;
      await pause(Math.min(Math.max(retryAfterMs, 100 * 2 ** tried), MAX_PAUSE_MS), signal);
    }
    this.#unavailable = result.outcome === 'unavailable' ? this.#unavailable + 1 : 0;
    return result.outcome === 'queued' ? 'handled' : result.outcome;
  }
}
