import type { Delivery } from '../request/delivery.js';
import type { Rejection } from '../request/outcome.js';
import type { Receipt } from '../request/receipt.js';
import { decimal, isJsonObject, type JsonObject, toTime } from '../schemas/values.js';
import type { WebhookLog } from '../schemas/webhook-log.js';
import { withoutQuery } from './addresses.js';
import {
  type DeliveryStatus,
  deliveryStatus,
  isYoungerThan,
  type MissedReason,
} from './delivery-status.js';
import { pageAtOnce } from './entries.js';
import type { AnsweredBy, LoggedDelivery, Recovering } from './log-reader.js';
import type { SourceSettings } from './source.js';

/** An entry of the log, with what it means for the receiver. */
export interface EntryFound {
  readonly status: DeliveryStatus;
  readonly answeredBy: AnsweredBy;
  /** The address that it was sent to, and the scope of the shop. */
  readonly shop: string;
  readonly event: string;
  /** The record in the payload, as it was sent. */
  readonly record: JsonObject;
  readonly recordId: string | undefined;
  /** Whether it says that an order is paid. */
  readonly isPaid: boolean;
  /** When the record changed to this state, in milliseconds. */
  readonly changedAt: number;
  /** The receipt in its answer, if the answer is the receiver's. */
  readonly receipt: Receipt | undefined;
  /** The missed delivery. Absent if the delivery was not missed. */
  readonly missed?: Omit<Missed, 'isDone' | 'isUnsafe'>;
  delivery(): Promise<Delivery | Rejection>;
  /** Returns the key that it had if a proxy dropped its id on the way. Throws what `keyBy` throws. */
  keyWithoutId(): string;
}

/** An entry of the log, as the provider returns it and as the receiver reads it. */
export interface EntryRead {
  readonly entry: WebhookLog;
  readonly found: EntryFound | Unusable;
}

/** Reads an entry of the log. */
export async function readEntry(
  entry: WebhookLog,
  settings: SourceSettings,
  sends: boolean,
): Promise<EntryFound | Unusable> {
  return judge(entry, await readLogged(entry, settings), settings, sends);
}

/**
 * Reads the entries of the log, page by page. A `secret` function may take a different time for each entry, so the
 * store is asked only after it has returned for the whole page: see {@link pageAtOnce}.
 */
export function readEntries(
  entries: AsyncIterable<WebhookLog>,
  settings: SourceSettings,
  sends: boolean,
): AsyncIterable<EntryRead> {
  const read = async (entry: WebhookLog) => ({ entry, logged: await readLogged(entry, settings) });
  return pageAtOnce(pageAtOnce(entries, read), async ({ entry, logged }) => {
    return { entry, found: await judge(entry, logged, settings, sends) };
  });
}

type Logged = LoggedDelivery | 'unreadable' | undefined;

function readLogged(entry: WebhookLog, { receiver }: SourceSettings): Promise<Logged> {
  // A user's function may throw for an odd entry. The other entries must still be found.
  return receiver.read(entry).catch((error: unknown) => {
    receiver.onError(error, entry);
    return 'unreadable' as const;
  });
}

async function judge(
  entry: WebhookLog,
  logged: Logged,
  settings: SourceSettings,
  sends: boolean,
): Promise<EntryFound | Unusable> {
  const { receiver, now, pendingAfterMs, scopes } = settings;
  if (logged === 'unreadable') return logged;
  if (!logged || scopes?.has(logged.scope) === false) return 'unknownShop';
  const { answeredBy, receipt, event, delivery, keyWithoutId } = logged;
  const shop = `${withoutQuery(entry.url ?? '')} ${logged.scope}`;
  const shown = deliveryStatus(entry, answeredBy, { now, pendingAfterMs, sends });
  const status =
    shown === 'done' && receipt?.outcome === 'queued'
      ? await statusInQueue(entry, receipt.key, logged, settings)
      : shown;
  const record = isJsonObject(logged.record) ? logged.record : {};
  const recordId = typeof record.id === 'string' ? record.id : undefined;
  const isPaid = event.startsWith('order:') && receiver.isPaid(record);
  const sentAt = timeOr(entry.created_at, 0);
  const changedAt = timeOr(record.updated_at, sentAt);
  const about = { event, recordId, isPaid, changedAt };
  const parts = { record, receipt, delivery, keyWithoutId };
  const found = { status, answeredBy, shop, ...parts, ...about };
  if (status === 'done' || status === 'waiting') return found;
  const hasReceipt = receipt !== undefined;
  const missed = { id: entry.id, reason: status, shop, sentAt, hasReceipt };
  return { ...found, missed: { ...about, ...missed, ...moneyOf(record) } };
}

/**
 * Returns what a delivery is about, so that another delivery of the same can be found: that an order is paid,
 * whichever event says it, or a state of another record. `undefined` if its payload has no id.
 */
export function subjectOf({
  event,
  recordId,
  isPaid,
  changedAt,
}: Pick<Missed, 'event' | 'recordId' | 'isPaid' | 'changedAt'>): string | undefined {
  if (recordId === undefined) return undefined;
  return isPaid ? `paid ${recordId}` : `${event} ${recordId} ${changedAt}`;
}

/**
 * Returns `queued` if the store does not have a queued delivery as done. A queue that is lost, or whose
 * worker has stopped, reports nothing; the store knows what a worker has done.
 */
async function statusInQueue(
  entry: WebhookLog,
  key: string,
  logged: LoggedDelivery,
  { receiver, now, pendingAfterMs }: SourceSettings,
): Promise<'done' | 'queued'> {
  if (isYoungerThan(pendingAfterMs, entry, now)) return 'done';
  const done = await receiver.findDone([key]);
  // A delivery that `onInvalid` has kept is done as well, and no handler has run.
  if (done?.length !== 0) return (await isInvalid(logged)) ? 'queued' : 'done';
  // The store never records a delivery without a handler as done.
  return (await isHandled(logged, receiver)) ? 'queued' : 'done';
}

async function isInvalid({ delivery }: LoggedDelivery): Promise<boolean> {
  const read = await delivery();
  return read.outcome === undefined && read.kind === 'invalid';
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
    // A user's function threw, as it did for the worker.
    return true;
  }
}

/**
 * Returns the value and the currency of an order, as far as it has them. The value has no exponent, as JavaScript gives a
 * small number such as 5e-7; a value that is not a decimal stays as it is, because a sum without it would be wrong.
 */
export function moneyOf({ value, currency }: { value?: unknown; currency?: unknown }) {
  const isGiven = typeof value === 'string' || typeof value === 'number';
  return {
    value: isGiven ? (decimal.safeParse(value).data ?? String(value)) : undefined,
    currency: typeof currency === 'string' ? currency : undefined,
  };
}

/** Returns when the delivery was answered last, by the provider's clock. */
export function changedAtOf({ updated_at, created_at }: WebhookLog): number {
  return timeOr(updated_at, timeOr(created_at, Number.POSITIVE_INFINITY));
}

export function timeOr(time: unknown, otherwise: number): number {
  const ms = toTime(time);
  return Number.isNaN(ms) ? otherwise : ms;
}

/**
 * Why this receiver cannot use an entry. `unreadable`: the entry does not match the specification, or a
 * function of the receiver's, such as `unwrap` or `keyBy`, threw for it. `unknownShop`: the `secret` function
 * gives no secret for its address, or that of another shop than the one of `url`. If another shop has an endpoint at
 * the address, its entries are left out before they are read.
 */
export type Unusable = 'unreadable' | 'unknownShop';

/** A missed delivery. It holds little, so that a hundred thousand of them fit into memory. */
export interface Missed {
  /** The id of the webhook log; for an order that the log does not mention, the order's id. */
  readonly id: string;
  readonly event: string;
  readonly reason: MissedReason | 'unlogged';
  /**
   * The address that it was sent to, and the scope of the shop; `undefined` for an order that the log does
   * not mention.
   */
  readonly shop: string | undefined;
  /** The id of the record in its payload. */
  readonly recordId: string | undefined;
  /**
   * When the record changed to this state, and when the provider first sent it or, if the log does not
   * mention the order, when it was ordered: milliseconds.
   */
  readonly changedAt: number;
  readonly sentAt: number;
  /** Whether it says that an order is paid. */
  readonly isPaid: boolean;
  /** Whether this receiver has answered it, though without success. */
  readonly hasReceipt: boolean;
  /** Whether it may have been done under another key or id, by a handler that would do it again. */
  readonly isUnsafe: boolean;
  /** The value of the order: a decimal as text. */
  readonly value: string | undefined;
  readonly currency: string | undefined;
  /** Whether the store has it as done. Then nothing is left to do, whatever the log says. */
  readonly isDone: boolean;
  /** Whether no handler matches it. Then running it does nothing. */
  readonly isIgnored?: boolean;
}
