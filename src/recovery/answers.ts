import type { Outcome } from '../request/outcome.js';
import type { Receipt } from '../request/receipt.js';
import type { WebhookLog } from '../schemas/webhook-log.js';
import { DoneBefore } from './completed-keys.js';
import { isSuccess } from './delivery-status.js';
import {
  changedAtOf,
  type EntryFound,
  type Missed,
  readEntry,
  subjectOf,
  timeOr,
} from './log-entry.js';
import { Predecessor } from './predecessor.js';
import type { SourceSettings } from './source.js';

const NEVER = Number.POSITIVE_INFINITY;
const ALWAYS = Number.NEGATIVE_INFINITY;

/** From when on a shop belongs to this receiver, as far as the log shows. Times are milliseconds. */
export interface Terms {
  /** The time of this receiver's first answer. */
  readonly first: number;
  /**
   * If another receiver answered before, or the store was lost: the first answer that both this receiver and
   * its store know of.
   */
  readonly since: number;
  /** Until when the previous code answered; near the end, it ran beside this receiver. */
  readonly until: number;
  /** When the previous code took what a delivery is about: see `subjectOf`. */
  readonly taken: ReadonlyMap<string, number>;
}

export const NO_TERMS: Terms = { first: NEVER, since: ALWAYS, until: ALWAYS, taken: new Map() };

/** The answers that the log has for a shop. */
interface Answered {
  first: number;
  /** The first answer of a receiver with another secret, scope or `keyBy`. */
  firstOther: number;
  /** This receiver's answers whose deliveries the store has as done, or has tried. */
  readonly known: number[];
  /** The last answer of this receiver that says `handled` and whose delivery the store does not know. */
  lastUnknown: number;
  /** The first answer `queued` whose delivery the store does not know as done. */
  firstQueued: number;
  /** The deliveries that were answered with success but without a receipt. */
  readonly predecessor: Predecessor;
  /** Whether a delivery was answered with 401, for its signature. */
  isRefused: boolean;
}

/** Collects who answered the deliveries in the log: this receiver on this store, or something else. */
export class Answers {
  readonly #settings: SourceSettings;
  readonly #asksSince: number;
  readonly #before: DoneBefore;
  /** When each unfinished delivery in the store was last tried, by its key. */
  #triedAt: Promise<ReadonlyMap<string, number>> | undefined;
  readonly #shops = new Map<string, Answered>();
  readonly #elsewhere = new Set<string>();

  /** @param asks - Whether to ask the store for deliveries that the log says are done. */
  constructor(settings: SourceSettings, asks: boolean) {
    const { now, receiver } = settings;
    this.#settings = settings;
    // The store may have forgotten older deliveries.
    this.#asksSince = asks ? now - receiver.keepMs : NEVER;
    this.#before = new DoneBefore(settings.receiver);
  }

  async add(entry: WebhookLog, found: EntryFound): Promise<void> {
    const { answeredBy, receipt, shop } = found;
    const { response_code: code = 0, created_at } = entry;
    const its = this.#shops.get(shop) ?? noAnswers();
    this.#shops.set(shop, its);
    const at = changedAtOf(entry);
    const sentAt = timeOr(created_at, at);
    its.isRefused ||= code === 401;
    if (answeredBy === 'edited' || answeredBy === 'other') {
      its.firstOther = Math.min(its.firstOther, at);
    } else if (receipt) {
      its.first = Math.min(its.first, at);
      const isDone = TAKEN.includes(receipt.outcome);
      if (isDone && answeredBy === 'own' && sentAt >= this.#asksSince)
        await this.#ask(entry, found, its);
    } else if (isSuccess(code)) {
      its.predecessor.add(entry, sentAt, subjectOf(found));
    }
  }

  /** Notes a delivery that was answered with success at another address of the account. */
  async addElsewhere(entry: WebhookLog): Promise<void> {
    if (!isSuccess(entry.response_code ?? 0)) return;
    const found = await readEntry(entry, { ...this.#settings, scopes: undefined }, true);
    const subject = typeof found === 'object' ? subjectOf(found) : undefined;
    if (subject !== undefined) this.#elsewhere.add(subject);
  }

  /** Whether an address other than the receiver's took what a delivery is about. */
  wasTakenElsewhere(one: Parameters<typeof subjectOf>[0]): boolean {
    return this.#elsewhere.has(subjectOf(one) ?? '');
  }

  /** Notes whether the store knows a delivery that the receiver's answer says is done. */
  async #ask(entry: WebhookLog, found: EntryFound, its: Answered): Promise<void> {
    const { pendingAfterMs, now } = this.#settings;
    const { delivery, receipt, status } = found;
    const at = changedAtOf(entry);
    // The store may still be recording a delivery that was answered just now. The provider's clock may be ahead.
    if (Math.abs(now - at) < pendingAfterMs) return;
    if (await this.#before.has(delivery, receipt && (() => receipt.key))) its.known.push(at);
    else if (status === 'queued') its.firstQueued = Math.min(its.firstQueued, at);
    else if (receipt && receipt.outcome !== 'queued' && this.#before.canSay) {
      if (await this.#hasTried(receipt)) its.known.push(at);
      else its.lastUnknown = Math.max(its.lastUnknown, at);
    }
  }

  /**
   * Whether the store has a delivery as unfinished, and as tried when the receiver answered it, or later. The handlers
   * ran, and the receiver could not record that, because the store was down. Such a store is neither new nor restored: a
   * backup from before the answer has an earlier attempt at most.
   */
  async #hasTried({ key, answeredAt }: Receipt): Promise<boolean> {
    const { receiver, pendingAfterMs } = this.#settings;
    this.#triedAt ??= receiver.unfinished().then(
      ({ triedAt }) => triedAt,
      // Without the list, the store cannot show that it is the same.
      () => new Map<string, number>(),
    );
    const at = (await this.#triedAt).get(key);
    return at !== undefined && at > answeredAt.getTime() - pendingAfterMs;
  }

  /** Whether answers from before `since` decide whose the shops are. */
  get isOpen(): boolean {
    const shops = [...this.#shops.values()];
    return shops.some(
      ({ first, firstOther, predecessor }) =>
        first === NEVER || firstOther < NEVER || predecessor.hasAnswered,
    );
  }

  /** Whether an answer that this receiver and its store both know of is older than a delivery. */
  knowsBefore({ shop, sentAt }: Pick<Missed, 'shop' | 'sentAt'>): boolean {
    return this.#shops.get(shop ?? '')?.known.some((at) => at <= sentAt) ?? false;
  }

  /** The terms of each shop. */
  get terms(): ReadonlyMap<string, Terms> {
    return new Map([...this.#shops].map(([shop, answered]) => [shop, termsOf(answered)]));
  }
}

/** The outcomes after which the store has the delivery as done, or will have once its job is. */
const TAKEN: readonly Outcome[] = ['handled', 'duplicate', 'queued'];

function termsOf(answered: Answered): Terms {
  const { first, firstOther, isRefused, known, lastUnknown, firstQueued, predecessor } = answered;
  // Only something else has answered here. The deliveries that it refused were not this receiver's either.
  const isForeign = first === NEVER && (isRefused || predecessor.hasAnswered);
  const isOther = firstOther < first || isForeign;
  const leastAfter = (from: number) =>
    known.reduce((least, at) => (at > from ? Math.min(least, at) : least), NEVER);
  const isLost = lastUnknown > ALWAYS;
  const firstKnown = leastAfter(ALWAYS);
  // A queue that loses jobs has done others before. If the store knows none, it is another store.
  const isNew = firstQueued < firstKnown;
  const since = Math.max(
    isOther ? first : ALWAYS,
    isLost ? leastAfter(lastUnknown) : ALWAYS,
    isNew ? firstKnown : ALWAYS,
  );
  return { first, since, until: predecessor.answeredUntil(first), taken: predecessor.taken };
}

function noAnswers(): Answered {
  const none = { known: [], predecessor: new Predecessor(), isRefused: false };
  const never = { first: NEVER, firstOther: NEVER, firstQueued: NEVER };
  return { ...never, lastUnknown: ALWAYS, ...none };
}
