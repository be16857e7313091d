import type { Rejection } from '../outcome.js';
import type { Delivery } from '../request/delivery.js';
import type { Receipt } from '../request/receipt.js';
import { isJsonObject, type JsonObject } from '../schemas/json.js';
import { toTime } from '../schemas/time.js';
import type { WebhookLog } from '../schemas/webhook-log.js';
import { DoneBefore } from './done-before.js';
import { entriesOf, untilSettled } from './entries.js';
import type { LoggedDelivery, Recovering } from './logged.js';
import type { Pace } from './pace.js';
import type { SourceSettings } from './source.js';
import { isYoungerThan, type MissedReason, type Standing, standingOf } from './standing.js';
import { ToldOrders } from './told-orders.js';

/** A delivery that was missed: little enough for a hundred thousand of them. */
export interface Missed {
  /** The id of the webhook log; of an order that no log tells of, the order's. */
  readonly id: string;
  readonly event: string;
  readonly reason: MissedReason | 'unlogged';
  /** What it is about: the id in its payload. */
  readonly recordId: string | undefined;
  /** When that changed so, and when it was first told: milliseconds. */
  readonly changedAt: number;
  readonly toldAt: number;
  /** A decimal. */
  readonly value: string | undefined;
  readonly currency: string | undefined;
  /** Whether the store has it as done: then nothing is left to do, whatever the log says. */
  readonly isDone: boolean;
}

/**
 * What an entry is that says nothing to this receiver. `unreadable`: no entry of the specification, or a function of
 * the receiver's, such as `unwrap` or `keyBy`, has thrown at it. `unknownShop`: its address is of none for which the
 * `secret` function gives a secret.
 */
type Unusable = 'unreadable' | 'unknownShop';

/** How many entries of the log there were, by what they mean. */
export type LogCounts = Record<Standing | Unusable, number>;

/** What the log has. */
export interface LogFound {
  readonly missed: Map<string, Missed>;
  readonly counts: LogCounts;
  /** The paid orders that the log tells of; absent where nobody asks. */
  readonly told?: ToldOrders;
}

/**
 * Reads the provider's log for what was missed. What is fine is counted and forgotten.
 *
 * @param rules.orders - Gives the paid orders that the log tells of as well, also before `since`: one that has
 *   changed since may have been delivered long ago.
 * @param rules.queued - Whether what is queued and not done counts as missed.
 */
export async function readLog(
  settings: SourceSettings,
  pace: Pace,
  { sends, orders, queued }: Record<'sends' | 'orders' | 'queued', boolean>,
): Promise<LogFound> {
  const missed = new Map<string, Missed>();
  const told = orders ? new ToldOrders(settings) : undefined;
  const read = orders ? { ...settings, since: 0 } : settings;
  const before = new DoneBefore(settings.receiver);
  let counts = noCounts();
  await untilSettled(
    () => missed.size,
    async (seen) => {
      counts = noCounts();
      const onUnreadable = () => {
        counts.unreadable += 1;
      };
      for await (const entry of entriesOf(read, pace, seen, onUnreadable)) {
        const found = await readEntry(entry, settings, sends);
        if (timeOr(entry.created_at, settings.now) < settings.since) {
          if (told && isPaidOrder(found) && (!found.missed || (await before.has(found.delivery))))
            told.add(found.recordId, entry.url);
          continue;
        }
        if (typeof found === 'string') {
          counts[found] += 1;
          continue;
        }
        counts[found.standing] += 1;
        const isLeft = found.standing === 'queued' && !queued;
        if (found.missed && !isLeft) {
          const isDone = missed.get(entry.id)?.isDone ?? (await before.has(found.delivery));
          missed.set(entry.id, { ...found.missed, isDone });
        }
        if (isPaidOrder(found)) told?.add(found.recordId, entry.url);
      }
    },
  );
  return { missed, counts, ...(told && { told }) };
}

function isPaidOrder(found: EntryFound | Unusable): found is EntryFound & { recordId: string } {
  return typeof found === 'object' && found.event === 'order:paid' && found.recordId !== undefined;
}

function noCounts(): LogCounts {
  const missed = { refused: 0, unanswered: 0, foreign: 0, queued: 0 };
  return { done: 0, edited: 0, waiting: 0, ...missed, unreadable: 0, unknownShop: 0 };
}

/** An entry of the log as it stands. */
export interface EntryFound {
  readonly standing: Standing;
  readonly event: string;
  /** What the payload holds, as it was sent. */
  readonly record: JsonObject;
  readonly recordId: string | undefined;
  /** The receipt of its answer, where that is the receiver's. */
  readonly receipt: Receipt | undefined;
  /** Absent where it was not missed. */
  readonly missed?: Omit<Missed, 'isDone'>;
  delivery(): Promise<Delivery | Rejection>;
}

/** Reads an entry. */
export async function readEntry(
  entry: WebhookLog,
  settings: SourceSettings,
  sends: boolean,
): Promise<EntryFound | Unusable> {
  const { receiver, now, pendingAfterMs } = settings;
  // A function of the user's may throw at one that is odd, which must not keep the others from being found.
  const logged = await receiver.read(entry).catch((error: unknown) => {
    receiver.onError(error, entry);
    return 'unreadable' as const;
  });
  if (logged === 'unreadable') return logged;
  if (!logged) return 'unknownShop';
  const { answeredBy, receipt, event, delivery } = logged;
  const told = standingOf(entry, answeredBy, { now, pendingAfterMs, sends });
  const standing =
    told === 'done' && receipt?.outcome === 'queued'
      ? await standingInQueue(entry, receipt.key, logged, settings)
      : told;
  const record = isJsonObject(logged.record) ? logged.record : {};
  const recordId = typeof record.id === 'string' ? record.id : undefined;
  const found = { standing, event, record, recordId, receipt, delivery };
  if (standing === 'done' || standing === 'edited' || standing === 'waiting') return found;
  const toldAt = timeOr(entry.created_at, 0);
  const changedAt = timeOr(record.updated_at, toldAt);
  const about = { id: entry.id, event, reason: standing, recordId, toldAt, changedAt };
  return { ...found, missed: { ...about, ...moneyOf(record) } };
}

/** A queue that is lost, or whose worker stands still, tells nobody; the store knows what a worker has done. */
async function standingInQueue(
  entry: WebhookLog,
  key: string,
  logged: LoggedDelivery,
  { receiver, now, pendingAfterMs }: SourceSettings,
): Promise<'done' | 'queued'> {
  if (isYoungerThan(pendingAfterMs, entry, now)) return 'done';
  const done = await receiver.findDone([key]);
  if (done?.length !== 0) return 'done';
  // What nobody handles is never recorded as done.
  return (await isHandled(logged, receiver)) ? 'queued' : 'done';
}

async function isHandled(
  { delivery }: LoggedDelivery,
  { isFront, effectsOf }: Recovering,
): Promise<boolean> {
  if (isFront) return true;
  try {
    const read = await delivery();
    return read.outcome === undefined && effectsOf(read).length > 0;
  } catch {
    // A function of the user's threw, as it did for the worker.
    return true;
  }
}

/** What an order is worth, as far as it says so. */
export function moneyOf({ value, currency }: { value?: unknown; currency?: unknown }) {
  return {
    value: typeof value === 'string' || typeof value === 'number' ? String(value) : undefined,
    currency: typeof currency === 'string' ? currency : undefined,
  };
}

export function timeOr(time: unknown, otherwise: number): number {
  const ms = toTime(time);
  return Number.isNaN(ms) ? otherwise : ms;
}
