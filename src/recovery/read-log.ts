import type { WebhookLog } from '../schemas/webhook-log.js';
import { Answers } from './answers.js';
import { DoneBefore } from './completed-keys.js';
import { Copies } from './copies.js';
import type { DeliveryStatus } from './delivery-status.js';
import { PAID } from './endpoint.js';
import { entriesOf, pageAtOnce, untilSettled } from './entries.js';
import {
  type EntryFound,
  type EntryRead,
  type Missed,
  readEntries,
  readEntry,
  timeOr,
  type Unusable,
} from './log-entry.js';
import { OrderStates } from './order-states.js';
import { OrdersInLog } from './orders-in-log.js';
import type { Pace } from './request-rate.js';
import { type SourceSettings, withoutErrors } from './source.js';

/** The number of log entries of each kind. */
export type LogCounts = Record<DeliveryStatus | Unusable, number>;

/** The result of {@link readLog}. */
export interface LogFound {
  readonly missed: Map<string, Missed>;
  readonly counts: LogCounts;
  /** The paid orders that the log mentions; absent if they were not asked for. */
  readonly logged?: OrdersInLog;
  /** When the log has its first paid order, as far as it was read; `Infinity` if it has no paid order. */
  readonly firstPaidAt: number;
  readonly answers: Answers;
  readonly states: OrderStates;
}

/** The rules of {@link readLog}. */
interface LogRules {
  /** Whether the provider sends to the endpoint. */
  readonly sends: boolean;
  /**
   * Whether to also return the paid orders that the log mentions, including those before `since`: an order that has
   * changed since may have been delivered long ago.
   */
  readonly orders: boolean;
  /** Whether a delivery that is queued and not done counts as missed. */
  readonly queued: boolean;
  /** Whether an event tells the receiver of paid orders: see `paidEvents`. */
  isTelling(event: string): boolean;
}

/** Reads the provider's log and returns the missed deliveries. Entries that are fine are only counted. */
export async function readLog(
  settings: SourceSettings,
  pace: Pace,
  { sends, orders, queued, isTelling }: LogRules,
): Promise<LogFound> {
  const missed = new Map<string, Missed>();
  const logged = orders ? new OrdersInLog(settings) : undefined;
  const read = orders ? { ...settings, since: 0 } : settings;
  const before = new DoneBefore(settings.receiver);
  const isDone = ({ delivery, keyWithoutId }: EntryFound) => before.has(delivery, keyWithoutId);
  const states = new OrderStates(logged);
  const copies = new Copies();
  // The provider may report a refund to another address only.
  const others = { ...withoutErrors(settings), scopes: undefined };
  const onOther = async (entry: WebhookLog, isHere = false) => {
    const found = await readEntry(entry, others, sends);
    if (typeof found !== 'object') return;
    states.add(found, entry.created_at);
    // An order of another shop at this address is not missing from the log.
    if (isHere && isPaidOrder(found, isTelling)) logged?.add(found.recordId, entry.url);
  };
  let counts = noCounts();
  let firstPaidAt = Number.POSITIVE_INFINITY;
  let answers = new Answers(settings, false);
  await untilSettled(
    // If a retry brings a delivery that has a copy, one size falls and the other rises.
    () => `${missed.size} ${copies.size} ${states.wanted}`,
    async (seen) => {
      counts = noCounts();
      const again = new Set<string>();
      copies.begin(missed);
      states.begin();
      // Ask the store about answers from the second reading on, and only if a delivery is left.
      answers = new Answers(
        settings,
        [...missed.values()].some(({ isDone }) => !isDone),
      );
      const onUnreadable = () => {
        counts.unreadable += 1;
      };
      const ask = async ({ entry, found }: EntryRead) => {
        if (typeof found === 'string') return { entry, found };
        const isOpen = found.missed && !missed.has(entry.id);
        const asked = isOpen && (found.status !== 'queued' || queued);
        const [isDoneNow] = await Promise.all([
          asked ? isDone(found) : undefined,
          answers.add(entry, found),
        ]);
        return { entry, found, isDoneNow };
      };
      const entries = entriesOf(read, pace, seen, onUnreadable, onOther);
      const all = readEntries(entries, settings, sends);
      for await (const { entry, found, isDoneNow } of pageAtOnce(all, ask)) {
        if (typeof found === 'object') states.add(found, entry.created_at);
        if (found === 'unknownShop') await onOther(entry, true);
        const sentAt = timeOr(entry.created_at, settings.now);
        if (isPaidOrder(found, isTelling)) firstPaidAt = Math.min(firstPaidAt, sentAt);
        if (sentAt < settings.since) {
          if (!logged || !isPaidOrder(found, isTelling)) continue;
          if (!found.missed || (isDoneNow ?? (await isDone(found))))
            logged.add(found.recordId, entry.url);
          continue;
        }
        if (typeof found === 'string') {
          counts[found] += 1;
          continue;
        }
        counts[found.status] += 1;
        const isLeft = found.status === 'queued' && !queued;
        const known = missed.get(entry.id);
        // At a delivery that was ignored, nothing has run that a copy could repeat.
        if (found.status === 'done' && found.receipt?.outcome !== 'ignored')
          copies.addHandled(found);
        // A retry has brought it since the last reading.
        if (found.status === 'done' && !again.has(entry.id) && !isAnother(found, known))
          missed.delete(entry.id);
        if (found.missed && !isLeft && isAnother(found.missed, known)) {
          onUnreadable();
        } else if (found.missed && !isLeft) {
          again.add(entry.id);
          const wasDone = known?.isDone ?? isDoneNow ?? (await isDone(found));
          if (wasDone) copies.addHandled(found);
          else states.want(found);
          const mayRepeat = found.status === 'edited' || copies.has(found);
          const isUnsafe = mayRepeat && !(await before.isOncePer(found.delivery));
          const isIgnored = await before.isIgnored(found.delivery);
          missed.set(entry.id, { ...found.missed, isDone: wasDone, isUnsafe, isIgnored });
        }
        if (isPaidOrder(found, isTelling)) logged?.add(found.recordId, entry.url);
      }
    },
  );
  return { missed, counts, firstPaidAt, answers, states, ...(logged && { logged }) };
}

/** Whether one id stands for two deliveries. The provider's API would return only one of them. */
function isAnother(one: Pick<Missed, 'event' | 'recordId'>, known: Missed | undefined): boolean {
  return known !== undefined && (one.event !== known.event || one.recordId !== known.recordId);
}

function isPaidOrder(
  found: EntryFound | Unusable,
  isTelling: LogRules['isTelling'],
): found is EntryFound & { recordId: string } {
  if (typeof found === 'string' || found.recordId === undefined) return false;
  return found.event === PAID || (found.isPaid && isTelling(found.event));
}

function noCounts(): LogCounts {
  const missed = { refused: 0, unanswered: 0, foreign: 0, edited: 0, queued: 0 };
  return { done: 0, waiting: 0, ...missed, unreadable: 0, unknownShop: 0 };
}
