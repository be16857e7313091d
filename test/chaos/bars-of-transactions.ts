import type { Sizes } from './arguments.js';
import type { Measured } from './bars.js';
import { type Counted, countEffects } from './counting.js';
import { describeErrors, describeRun, runFaults } from './fault-run.js';
import { planFaults, TRANSACTION_POINTS } from './faults.js';
import { planJumps, runJumps } from './jumps.js';
import { planNetwork, runNetwork } from './network.js';
import { Random } from './random.js';
import { planRestarts, runRestarts } from './restarts.js';
import type { TestedStore } from './stores.js';
import { type Cell, none, row } from './table.js';

const MINUTES = 60_000;
const SALES = { handlers: 'transaction' } as const;

/** Measures handlers in transactions of the store: no ledger and no constraint prevents selling two. */
export async function measureTransactions(
  store: TestedStore,
  seed: number,
  sizes: Sizes,
): Promise<Measured> {
  const measured = [await whileKilled(store, seed, sizes)];
  if (store.servers.length > 0) {
    measured.push(await whileCut(store, seed, sizes), await whileRestarted(store, seed, sizes));
  }
  return {
    cells: measured.flatMap(({ cells }) => cells),
    notes: measured.flatMap(({ notes }) => notes),
  };
}

/** The processes are killed and stopped at any point. */
async function whileKilled(
  store: TestedStore,
  seed: number,
  { transactions: deliveries, transactionFaults: faults }: Sizes,
): Promise<Measured> {
  const limitMs = 2 * MINUTES + 1.5 * (faults * 1_000 + deliveries * 100);
  const kind = { ...SALES, prefix: 'tx-', points: TRANSACTION_POINTS };
  const run = await runFaults(store, seed, { deliveries, faults, limitMs }, kind);
  const { ids, answered, receivers, plannedFaults } = run;
  const counted = await countEffects(store, ids, kind.prefix);
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
      ...judge('19', 'bcd', '', { ids, answered, counted }),
    ],
    notes: describeRun(run),
  };
}

/** The connections to the store fall silent, are cut, and lose answers, those to COMMIT among them. */
async function whileCut(
  store: TestedStore,
  seed: number,
  { networkFaults, blackHoleMs }: Sizes,
): Promise<Measured> {
  const plan = planNetwork(new Random(seed), networkFaults, blackHoleMs);
  const limitMs = 5 * MINUTES + networkFaults * (45_000 + blackHoleMs);
  const kind = { ...SALES, prefix: 'txnet-' };
  const { load, receivers, happened } = await runNetwork(store, seed, { plan, limitMs }, kind);
  const counted = await countEffects(store, load.ids, kind.prefix);
  const sizes = `${load.ids.length} / ${happened}`;
  return {
    cells: [
      row('19e', 'the same / faults of the network', 'as planned', sizes, happened === plan.length),
      ...judge('19', 'fgh', 'the network: ', { ...load, counted }),
    ],
    notes: [`network: ${describeErrors(receivers)}`],
  };
}

/** The server of the store is restarted, gracefully and not. */
function whileRestarted(store: TestedStore, seed: number, { restarts }: Sizes): Promise<Measured> {
  const plan = planRestarts(new Random(seed), restarts);
  const limitMs = 5 * MINUTES + restarts * 30_000;
  const kind = { ...SALES, prefix: 'txrestart-' };
  return runRestarts(
    store,
    seed,
    { plan, limitMs },
    async ({ load, receivers, happened }) => {
      const counted = await countEffects(store, load.ids, kind.prefix);
      const sizes = `${load.ids.length} / ${happened}`;
      return {
        cells: [
          row(
            '19i',
            'the same / restarts of the store',
            'as planned',
            sizes,
            happened === restarts,
          ),
          ...judge('19', 'jkl', 'restarts: ', { ...load, counted }),
        ],
        notes: [`restarts: ${describeErrors(receivers)}`],
      };
    },
    kind,
  );
}

/** The same, while the clock of the machine jumps, on which the receivers and the server run. */
export function measureJumps(
  store: TestedStore,
  seed: number,
  { jumps }: Sizes,
): Promise<Measured> {
  const plan = planJumps(new Random(seed), jumps);
  const faults = planFaults(
    new Random(seed),
    { faults: jumps, deliveries: 10 * jumps },
    { stopsInTransaction: store.name !== 'sqlite', points: TRANSACTION_POINTS },
  );
  const limitMs = 5 * MINUTES + jumps * 10_000;
  const kind = { ...SALES, prefix: 'txjump-' };
  return runJumps(
    store,
    seed,
    { plan, faults, limitMs },
    async ({ store: own, load, receivers, happened }) => {
      const counted = await countEffects(own, load.ids, kind.prefix);
      const sizes = `${load.ids.length} / ${happened}`;
      return {
        cells: [
          row(
            '20',
            'deliveries in a transaction / jumps of the clock',
            'as planned',
            sizes,
            happened === jumps,
          ),
          none('20a', 'processes that ended unplanned', receivers.unplannedEnds),
          ...judge('20', 'bcd', '', { ...load, counted }),
        ],
        notes: [`${receivers.faults} processes hit; ${describeErrors(receivers)}`],
      };
    },
    kind,
  );
}

function judge(
  part: string,
  [lost, twice, apart]: string,
  when: string,
  {
    ids,
    answered,
    counted: { withoutSale, soldTwice, unknownSales, stockError },
  }: {
    readonly ids: readonly string[];
    readonly answered: ReadonlySet<string>;
    readonly counted: Counted;
  },
): Cell[] {
  return [
    none(
      `${part}${lost}`,
      `${when}lost: unanswered or not sold`,
      ids.length - answered.size + withoutSale,
    ),
    none(`${part}${twice}`, `${when}sold twice, without a ledger`, soldTwice, ids.length),
    none(`${part}${apart}`, `${when}stock and sales apart`, stockError + unknownSales),
  ];
}
