import type { Rejection } from '../outcome.js';
import type { Delivery } from '../request/delivery.js';
import type { Effect } from '../stores/ledger.js';
import { entriesOf, untilSettled } from './entries.js';
import type { Recovering } from './logged.js';
import { type EntryFound, readEntry } from './missed.js';
import type { Pace } from './pace.js';
import type { ReconcileSettings } from './reconcile-options.js';
import type { Standing } from './standing.js';

/** What the provider's log knows of an order. */
export interface Evidence {
  /** The keys of deliveries that said it is paid, and were handled. */
  readonly handled: Set<string>;
  /** One was answered `duplicate`, or `queued` and its job is done or young: it is handled at least once. */
  wasTaken: boolean;
  /**
   * What handlers do for deliveries that said it is paid, by the keys of these: of those that the log does not
   * know to be handled, or of all where a ledger is asked.
   */
  readonly deliveries: Map<string, readonly Effect[]>;
  /** A delivery that said it is reversed was handled. */
  wasReversed: boolean;
  /** The keys of those that said so, and that the log does not know to be handled. */
  readonly reversals: Set<string>;
  /** How the delivery stands that said it is paid: the last one of them. */
  standing: Standing | undefined;
}

/** Reads the provider's log for what became of each order. */
export async function gatherEvidence(
  settings: ReconcileSettings,
  pace: Pace,
): Promise<ReadonlyMap<string, Evidence>> {
  const found = new Map<string, Evidence>();
  await untilSettled(
    () => found.size,
    async (seen) => {
      for await (const entry of entriesOf(settings, pace, seen, () => {})) {
        const read = await readEntry(entry, settings, true);
        if (typeof read === 'string' || read.recordId === undefined) continue;
        if (!read.event.startsWith('order:')) continue;
        const evidence = found.get(read.recordId) ?? noEvidence();
        found.set(read.recordId, evidence);
        await note(read, evidence, settings);
      }
    },
  );
  return found;
}

async function note(
  { event, standing, record, receipt, delivery }: EntryFound,
  evidence: Evidence,
  { receiver, ledger, reversedStatuses }: ReconcileSettings,
): Promise<void> {
  const { outcome, key } = receipt ?? {};
  const isHandled = outcome === 'handled';
  if (event === 'order:paid') {
    if (isHandled && key !== undefined) evidence.handled.add(key);
    evidence.wasTaken ||= outcome === 'duplicate' || (outcome === 'queued' && standing === 'done');
    // The newest are first.
    evidence.standing ??= standing;
    if (ledger || !isHandled) {
      const effects = await effectsOf(delivery, receiver, key);
      for (const [one, its] of effects) evidence.deliveries.set(one, its);
    }
  }
  if (!reversedStatuses.some((one) => one === record.status)) return;
  evidence.wasReversed ||= isHandled;
  if (isHandled) return;
  const read = await readKnown(delivery);
  if (read) evidence.reversals.add(read.key);
}

type Read = () => Promise<Delivery | Rejection | undefined>;

/**
 * What handlers do for a delivery, by its key.
 *
 * @param answeredKey - The key that it had when it was answered, in case it was edited in the log since.
 */
export async function effectsOf(
  read: Read,
  receiver: Pick<Recovering, 'effectsOf'>,
  answeredKey?: string,
): Promise<Map<string, readonly Effect[]>> {
  try {
    const delivery = await readKnown(read);
    if (!delivery) return new Map();
    const keys = new Set([delivery.key, answeredKey ?? delivery.key]);
    return new Map([...keys].map((key) => [key, receiver.effectsOf({ ...delivery, key })]));
  } catch {
    // A function of the user's threw, as it will for the handler.
    return new Map();
  }
}

/** One that fits its event, for which handlers are run. */
async function readKnown(read: Read): Promise<Delivery | undefined> {
  const delivery = await read().catch(() => undefined);
  return delivery?.outcome === undefined && delivery?.kind === 'known' ? delivery : undefined;
}

function noEvidence(): Evidence {
  return {
    handled: new Set(),
    wasTaken: false,
    deliveries: new Map(),
    wasReversed: false,
    reversals: new Set(),
    standing: undefined,
  };
}
