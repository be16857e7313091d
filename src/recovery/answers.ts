import type { WebhookLog } from '../schemas/webhook-log.js';
import { DoneBefore } from './completed-keys.js';
import { changedAtOf, type EntryFound, timeOr } from './log-entry.js';
import { DAY_MS, type SourceSettings } from './source.js';
import { isSuccess, isYoungerThan } from './standing.js';

const NEVER = Number.POSITIVE_INFINITY;
const ALWAYS = Number.NEGATIVE_INFINITY;

/** From when on a shop belongs to this receiver, as far as the log shows. Times are milliseconds. */
export interface Terms {
  /** When this receiver answered first. */
  readonly first: number;
  /**
   * If another receiver answered before, or the store was lost: the first answer that both this receiver and
   * its store know of.
   */
  readonly since: number;
  /** Until when the previous code answered; near the end, it ran beside this receiver. */
  readonly until: number;
}

export const NO_TERMS: Terms = { first: NEVER, since: ALWAYS, until: ALWAYS };

/** The answers that the log has for a shop. */
interface Answered {
  first: number;
  /** The first answer of a receiver with another secret, scope or `keyBy`. */
  firstOther: number;
  /** This receiver's answers whose deliveries the store has as done. */
  readonly known: number[];
  /** The last answer of this receiver that says `handled` and whose delivery the store does not know. */
  lastUnknown: number;
  /** When the deliveries that were answered with success but without a receipt were first sent. */
  readonly bare: number[];
  /** Whether a delivery was answered with 401, for its signature. */
  isRefused: boolean;
}

/** Collects who answered the deliveries in the log: this receiver on this store, or something else. */
export class Answers {
  readonly #settings: SourceSettings;
  readonly #asksSince: number;
  readonly #before: DoneBefore;
  readonly #shops = new Map<string, Answered>();

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
    const toldAt = timeOr(created_at, at);
    its.isRefused ||= code === 401;
    if (answeredBy === 'edited' || answeredBy === 'other') {
      its.firstOther = Math.min(its.firstOther, at);
    } else if (receipt) {
      its.first = Math.min(its.first, at);
      const isDone = receipt.outcome === 'handled' || receipt.outcome === 'duplicate';
      if (isDone && answeredBy === 'own' && toldAt >= this.#asksSince)
        await this.#ask(entry, found, its);
    } else if (isSuccess(code)) {
      its.bare.push(toldAt);
    }
  }

  /** Notes whether the store knows a delivery that the receiver's answer says is done. */
  async #ask(entry: WebhookLog, { delivery }: EntryFound, its: Answered): Promise<void> {
    const { pendingAfterMs, now } = this.#settings;
    // The store may still be recording a delivery that was answered just now.
    if (isYoungerThan(pendingAfterMs, entry, now)) return;
    const at = changedAtOf(entry);
    if (await this.#before.has(delivery)) its.known.push(at);
    else if (this.#before.canSay) its.lastUnknown = Math.max(its.lastUnknown, at);
  }

  /** Whether answers from before `since` decide whose the shops are. */
  get isOpen(): boolean {
    const shops = [...this.#shops.values()];
    return shops.some(
      ({ first, firstOther, bare }) => first === NEVER || firstOther < NEVER || bare.length > 0,
    );
  }

  /** The terms of each shop. */
  get terms(): ReadonlyMap<string, Terms> {
    return new Map([...this.#shops].map(([shop, answered]) => [shop, termsOf(answered)]));
  }
}

function termsOf(answered: Answered): Terms {
  const { first, firstOther, isRefused, known, lastUnknown } = answered;
  const isOther = firstOther < first || (first === NEVER && isRefused);
  const knownAgain = known.reduce(
    (least, at) => (at > lastUnknown ? Math.min(least, at) : least),
    NEVER,
  );
  const isLost = lastUnknown > ALWAYS;
  const since = Math.max(isOther ? first : ALWAYS, isLost ? knownAgain : ALWAYS);
  return { first, since, until: handedOverAt(answered) };
}

/**
 * The longest gap between two answers of the previous code while it runs beside this receiver. A success
 * without a receipt after a longer gap is taken for that of a maintenance page.
 */
const OVERLAP_MS = DAY_MS;

function handedOverAt({ first, bare }: Answered): number {
  if (!bare.some((at) => at < first)) return ALWAYS;
  let until = first;
  for (const at of bare.sort((a, b) => a - b)) {
    if (at - until >= OVERLAP_MS) break;
    until = Math.max(until, at);
  }
  return until;
}

function noAnswers(): Answered {
  const none = { known: [], bare: [], isRefused: false };
  return { first: NEVER, firstOther: NEVER, lastUnknown: ALWAYS, ...none };
}
