import { entriesOf, untilSettled } from './entries.js';
import { readEntry } from './missed.js';
import type { Pace } from './pace.js';
import type { ReconcileSettings } from './reconcile-options.js';
import type { Standing } from './standing.js';

/** What the provider's log knows of an order. */
export interface Evidence {
  /** The keys of deliveries that said it is paid, and were handled. */
  readonly handled: Set<string>;
  /** One was answered `duplicate` or `queued`: it was, or will be, handled at least once. */
  wasTaken: boolean;
  /** A delivery that said it is reversed was handled. */
  wasReversed: boolean;
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
    async () => {
      for await (const entry of entriesOf(settings, pace, () => {})) {
        const read = await readEntry(entry, settings, true);
        if (read?.recordId === undefined || !read.event.startsWith('order:')) continue;
        const { standing, event, record, recordId, receipt } = read;
        const evidence = found.get(recordId) ?? noEvidence();
        found.set(recordId, evidence);
        if (event === 'order:paid') {
          if (receipt?.outcome === 'handled') evidence.handled.add(receipt.key);
          evidence.wasTaken ||= receipt?.outcome === 'duplicate' || receipt?.outcome === 'queued';
          evidence.standing = standing;
        }
        const isReversed = settings.reversedStatuses.some((one) => one === record.status);
        evidence.wasReversed ||= isReversed && receipt?.outcome === 'handled';
      }
    },
  );
  return found;
}

function noEvidence(): Evidence {
  return { handled: new Set(), wasTaken: false, wasReversed: false, standing: undefined };
}
