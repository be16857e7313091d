import type { Delivery } from '../request/delivery.js';
import type { Rejection } from '../request/outcome.js';
import type { WebhookLog } from '../schemas/webhook-log.js';
import type { Effect } from '../stores/ledger.js';
import type { DeliveryStatus } from './delivery-status.js';
import type { MissedFacts } from './earlier-deliveries.js';
import { PAID } from './endpoint.js';
import { entriesOf, untilSettled } from './entries.js';
import { type EntryFound, readEntries, readEntry, timeOr } from './log-entry.js';
import type { Recovering } from './log-reader.js';
import type { ReconcileSettings } from './reconcile-options.js';
import type { Pace } from './request-rate.js';
import { withoutErrors } from './source.js';

/** The orders in the provider's log. */
export interface Gathered {
  readonly orders: ReadonlyMap<string, OrderHistory>;
  /** When the log has its first paid order, as far as it was read; `Infinity` if it has no paid order. */
  readonly firstPaidAt: number;
}

/** The deliveries of an order in the provider's log. */
export interface OrderHistory {
  /** The keys of the handled deliveries that say that the order is paid. */
  readonly handled: Set<string>;
  /**
   * Whether a delivery was answered `duplicate`, or `queued` and its job is done or young. Then the order was
   * handled at least once.
   */
  wasTaken: boolean;
  /**
   * The effects of deliveries that say that the order is paid, by the keys of these deliveries: only of those
   * that the log does not show as handled or, with a ledger, of all.
   */
  readonly deliveries: Map<string, readonly Effect[]>;
  /** Whether a delivery that says that the order is reversed was handled. */
  wasReversed: boolean;
  /** The keys of the deliveries that say so and that the log does not show as handled. */
  readonly reversals: Set<string>;
  /** The status of the last delivery that says that the order is paid. */
  status: DeliveryStatus | undefined;
  /** The properties to judge that delivery by, if it was missed. */
  missed: MissedFacts | undefined;
}

/**
 * Reads from the provider's log what happened to each order.
 *
 * @param sends - Whether the provider sends to the endpoint, so that retries may still arrive.
 */
export async function readHistories(
  settings: ReconcileSettings,
  pace: Pace,
  sends: boolean,
): Promise<Gathered> {
  const orders = new Map<string, OrderHistory>();
  const historyOf = (id: string) => {
    const history = orders.get(id) ?? emptyHistory();
    orders.set(id, history);
    return history;
  };
  let firstPaidAt = Number.POSITIVE_INFINITY;
  const others = withoutErrors(settings);
  // The refund may have been sent to an earlier address of the endpoint. Only the store shows whether it was handled.
  const onOther = async (entry: WebhookLog) => {
    if (settings.delivered || !mayReverse(entry, settings)) return;
    const found = await readEntry(entry, others, sends);
    if (typeof found === 'string' || found.recordId === undefined) return;
    if (!isReversal(found, settings)) return;
    const read = await readKnown(found.delivery);
    if (read) historyOf(found.recordId).reversals.add(read.key);
  };
  await untilSettled(
    () => orders.size,
    async (seen) => {
      const entries = entriesOf(settings, pace, seen, () => {}, onOther);
      for await (const { entry, found } of readEntries(entries, settings, sends)) {
        if (typeof found === 'string' || found.recordId === undefined) continue;
        if (!found.event.startsWith('order:')) continue;
        await note(found, historyOf(found.recordId), settings);
        if (found.event !== PAID) continue;
        firstPaidAt = Math.min(firstPaidAt, timeOr(entry.created_at, settings.now));
      }
    },
  );
  return { orders, firstPaidAt };
}

async function note(
  found: EntryFound,
  history: OrderHistory,
  settings: ReconcileSettings,
): Promise<void> {
  const { event, status, receipt, delivery, missed } = found;
  const { receiver, ledger } = settings;
  // A receipt for another payload does not prove that this one was handled.
  const { outcome, key } = (status === 'edited' ? undefined : receipt) ?? {};
  const isHandled = outcome === 'handled';
  if (event === PAID) {
    if (isHandled && key !== undefined) history.handled.add(key);
    history.wasTaken ||= outcome === 'duplicate' || (outcome === 'queued' && status === 'done');
    // The log has the newest entries first.
    if (history.status === undefined) history.missed = missed;
    history.status ??= status;
    if (ledger || !isHandled) {
      const effects = await effectsOf(delivery, receiver);
      for (const [one, its] of effects) history.deliveries.set(one, its);
    }
  }
  if (!isReversal(found, settings)) return;
  history.wasReversed ||= isHandled;
  if (isHandled) return;
  const read = await readKnown(delivery);
  if (read) history.reversals.add(read.key);
}

/**
 * Whether an entry may be a reversal, so that it is worth reading: most of the entries of another address are not, and
 * the receiver's `secret` function would be asked for each. A wrapped payload does not tell.
 */
function mayReverse({ event = '', payload }: WebhookLog, settings: ReconcileSettings): boolean {
  return settings.receiver.unwraps || isReversal({ event, record: payload }, settings);
}

/** Whether a delivery says that its order is reversed. */
function isReversal(
  { event, record }: { readonly event: string; readonly record: { readonly status?: unknown } },
  { reversedStatuses }: ReconcileSettings,
): boolean {
  // A payment takes nothing back, although the log may show its order as it is by now.
  if (event === PAID || !event.startsWith('order:')) return false;
  return reversedStatuses.some((one) => one === record.status);
}

type Read = () => Promise<Delivery | Rejection | undefined>;

/** Returns the effects of a delivery's handlers, by the delivery's key. */
export async function effectsOf(
  read: Read,
  receiver: Pick<Recovering, 'effectsOf'>,
): Promise<Map<string, readonly Effect[]>> {
  try {
    const delivery = await readKnown(read);
    if (!delivery) return new Map();
    return new Map([[delivery.key, receiver.effectsOf(delivery)]]);
  } catch {
    // A user's function threw. It will throw again when the delivery is run, and is reported then.
    return new Map();
  }
}

/** Returns the delivery if it fits its event, so that handlers are run for it. */
async function readKnown(read: Read): Promise<Delivery | undefined> {
  const delivery = await read().catch(() => undefined);
  return delivery?.outcome === undefined && delivery?.kind === 'known' ? delivery : undefined;
}

function emptyHistory(): OrderHistory {
  return {
    handled: new Set(),
    wasTaken: false,
    deliveries: new Map(),
    wasReversed: false,
    reversals: new Set(),
    status: undefined,
    missed: undefined,
  };
}
