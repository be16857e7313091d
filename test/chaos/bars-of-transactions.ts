import type { Sizes } from './arguments.js';
import { countEffects } from './counting.js';
import { describeRun, runFaults } from './fault-run.js';
import { TRANSACTION_POINTS } from './faults.js';
import type { TestedStore } from './stores.js';
import { type Cell, none, row } from './table.js';

const MINUTES = 60_000;
const PREFIX = 'tx-';

/** Measures handlers in transactions of the store while their processes are killed and stopped at any point. */
export async function measureTransactions(
  store: TestedStore,
  seed: number,
  { deliveries, faults }: Sizes,
): Promise<{ cells: readonly Cell[]; notes: readonly string[] }> {
  const limitMs = 2 * MINUTES + 1.5 * (faults * 1_000 + deliveries * 100);
  const size = { deliveries, faults, limitMs };
  const kind = { prefix: PREFIX, points: TRANSACTION_POINTS, handlers: 'transaction' };
  const run = await runFaults(store, seed, size, kind);
  const { ids, answered, receivers, plannedFaults } = run;
  const { withoutSale, soldTwice, unknownSales, stockError } = await countEffects(
    store,
    ids,
    PREFIX,
  );
  const isWhole = receivers.faults === plannedFaults && ids.length >= deliveries;
  return {
    cells: [
      row(
        '19',
        'deliveries in a transaction / faults',
        'as planned',
        `${ids.length} / ${receivers.faults}`,
        isWhole,
      ),
      none('19a', 'processes that ended unplanned', receivers.unplannedEnds),
      none('19b', 'lost: unanswered or not sold', ids.length - answered.size + withoutSale),
      none('19c', 'sold twice, without a ledger', soldTwice, ids.length),
      none('19d', 'stock and sales apart', stockError + unknownSales),
    ],
    notes: describeRun(run),
  };
}
