import { ApiError } from '../api/api-error.js';
import { pause } from '../api/timeouts.js';
import type { Delivery } from '../request/delivery.js';
import type { Rejection, Result } from '../request/outcome.js';
import { DoneBefore } from './completed-keys.js';
import { stateOf } from './copies.js';
import { type EntryFound, type Missed, readEntry, timeOr } from './log-entry.js';
import type { RecoverSettings } from './options.js';
import { REVERSED } from './order-states.js';
import { isSafeUnlogged } from './orders.js';
import { PER_PAGE } from './pages.js';
import { LATER, type Pace } from './request-rate.js';
import type { Recovered, RecoveredOutcome } from './results.js';

/** Outcomes that make later changes of the same record wait. */
const NOT_NOW: readonly RecoveredOutcome[] = ['failed', 'busy', 'unavailable'];
/** Outcomes after which a copy of the delivery would do the same again. */
const TAKEN: readonly RecoveredOutcome[] = ['handled', 'duplicate', 'settled'];
/** How often a busy or unavailable delivery is tried, and how many in a row may be unavailable. */
const MAX_TRIES = 5;
const MAX_UNAVAILABLE = 3;
/** How often one record is requested before recovery checks whether the provider answers at all. */
const MAX_ASKED = 3;
const MAX_PAUSE_MS = 10_000;
/** The errors of an order that does not exist, or that this token may not read. */
const SILENT: readonly ApiError['code'][] = ['not_found', 'forbidden'];

/** The facts about missed deliveries that the whole log shows. */
export interface Judged {
  /** Whether the provider sends to the endpoint. */
  readonly sends: boolean;
  /** Whether something else may have handled it: see `findEarlier`. */
  isEarlier(one: Missed): boolean;
  /** Whether its order was refunded or charged back since: see `OrderStates`. */
  isTakenBack(one: Missed): boolean;
}

/** Runs the missed deliveries, one after the other. */
export class Running {
  readonly #settings: RecoverSettings;
  readonly #pace: Pace;
  readonly #sends: boolean;
  readonly #isEarlier: (one: Missed) => boolean;
  readonly #isTakenBack: (one: Missed) => boolean;
  readonly #before: DoneBefore;
  readonly #held = new Set<string>();
  /** The states that this run has handled, or that were handled since the log was read. */
  readonly #handled = new Set<string | undefined>();
  /** How many deliveries in a row were unavailable. Once the store is down, no other is tried. */
  #unavailable = 0;

  constructor(settings: RecoverSettings, pace: Pace, { sends, isEarlier, isTakenBack }: Judged) {
    this.#settings = settings;
    this.#pace = pace;
    this.#before = new DoneBefore(settings.receiver);
    this.#sends = sends;
    this.#isEarlier = isEarlier;
    this.#isTakenBack = isTakenBack;
  }

  async run(missed: readonly Missed[]): Promise<Recovered[]> {
    const { apply, onProgress } = this.#settings;
    const recovered: Recovered[] = [];
    // If recovery is stopped before the first delivery, this says how many are left.
    onProgress({ step: 'deliveries', done: 0, of: missed.length });
    for (const one of missed) {
      const outcome = apply ? await this.#runOne(one) : this.#list(one);
      if (TAKEN.includes(outcome)) this.#handled.add(stateOf(one));
      if (NOT_NOW.includes(outcome) && one.recordId !== undefined) this.#held.add(one.recordId);
      const { id, event, reason, recordId, sentAt, value, currency } = one;
      const about = { id, event, reason, recordId, sentAt: new Date(sentAt), value, currency };
      const delivery = { ...about, outcome };
      recovered.push(delivery);
      onProgress({ step: 'deliveries', done: recovered.length, of: missed.length, delivery });
    }
    return recovered;
  }

  /** Returns the outcome of a delivery that is not run, as far as the log and the store show. */
  #judge(one: Missed): RecoveredOutcome | undefined {
    if (one.isDone) return 'duplicate';
    if (one.isIgnored) return 'ignored';
    if (this.#isTakenBack(one)) return 'settled';
    return this.#isEarlier(one) ? 'earlier' : undefined;
  }

  #list(one: Missed): RecoveredOutcome {
    const judged = this.#judge(one);
    if (judged) return judged;
    const isUnsafe = one.reason === 'unlogged' && !isSafeUnlogged(this.#settings);
    return isUnsafe || one.isUnsafe ? 'unsafe' : 'listed';
  }

  async #runOne(one: Missed): Promise<RecoveredOutcome> {
    const judged = this.#judge(one);
    if (judged) return judged;
    if (this.#unavailable === MAX_UNAVAILABLE) return 'unavailable';
    if (one.recordId !== undefined && this.#held.has(one.recordId)) return 'held';
    // A retry from the provider, or another recovery, may have done it since the log was read.
    const now = await this.#findNow(one);
    return typeof now === 'string' ? now : this.#process(now);
  }

  async #findNow(one: Missed): Promise<Delivery | RecoveredOutcome> {
    const { client, signal, call, receiver, urls } = this.#settings;
    const options = { ...call, onIssues() {} };
    try {
      if (one.reason === 'unlogged') {
        if (!isSafeUnlogged(this.#settings)) return 'unsafe';
        const order = await this.#ask(() => client.orders.get(one.id, options));
        if (order.id !== one.id) return 'gone';
        if (!receiver.isPaid(order)) return 'settled';
        return this.#read(one, () => receiver.readOrder(order, urls[0] ?? ''));
      }
      const entry = await this.#ask(() => client.webhookLogs.get(one.id, options));
      // The answer has another record, such as from a cache that ignores the address.
      if (entry.id !== one.id) return 'gone';
      const found = await readEntry(entry, this.#settings, this.#sends);
      if (typeof found === 'string') return 'rejected';
      if (found.event !== one.event || found.recordId !== one.recordId) return 'gone';
      if (!found.missed || (await this.#isOutdated(found))) return 'settled';
      const state = stateOf(one);
      const isCopy = state !== undefined && this.#handled.has(state);
      const mayRepeat = one.isUnsafe || isCopy || found.missed.reason === 'edited';
      if (mayRepeat && !(await this.#before.isOncePer(found.delivery))) return 'unsafe';
      return this.#read(one, found.delivery);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ApiError && error.code === 'not_found') return 'gone';
      // The error may concern this record alone. Then the others do not have to wait.
      if (error instanceof ApiError) await this.#askForAny();
      receiver.onError(error, one);
      return 'failed';
    }
  }

  /** Whether an order that the webhook says is paid has been reversed since, or one that it says is reversed is paid. */
  async #isOutdated({ event, record, recordId, changedAt }: EntryFound): Promise<boolean> {
    const { client, call, receiver } = this.#settings;
    if (recordId === undefined || !event.startsWith('order:')) return false;
    const isPaid = receiver.isPaid(record);
    if (!isPaid && !REVERSED.includes(record.status)) return false;
    const options = { ...call, onIssues() {} };
    try {
      const order = await this.#ask(() => client.orders.get(recordId, options));
      if (order.id !== recordId || receiver.isPaid(order) === isPaid) return false;
      // The provider may still show the payment from before the reversal, such as from a cache.
      return isPaid || timeOr(order.updated_at, changedAt) > changedAt;
    } catch (error) {
      // Nothing contradicts the log.
      if (error instanceof ApiError && SILENT.includes(error.code)) return false;
      throw error;
    }
  }

  /** Requests one record. If that fails, waits until the provider answers other requests, and tries again. */
  async #ask<Found>(request: () => Promise<Found>): Promise<Found> {
    try {
      return await this.#pace.run(request, { tries: MAX_ASKED });
    } catch (error) {
      if (!(error instanceof ApiError && LATER.includes(error.code))) throw error;
      await this.#askForAny();
      return this.#pace.run(request, { tries: MAX_ASKED });
    }
  }

  /** Waits until the provider answers any request. */
  async #askForAny(): Promise<void> {
    const { client, call } = this.#settings;
    const options = { ...call, perPage: PER_PAGE, onIssues() {} };
    await this.#pace.run(async () => client.webhookLogs.list(options));
  }

  /** Reads a delivery. If a user's function throws, only this delivery fails, as for a webhook. */
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
