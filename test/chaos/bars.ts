import type { Part, Sizes } from './arguments.js';
import {
  measureDeploys,
  measureGoods,
  measureLostClaims,
  measureNetwork,
  measureOrders,
  measureRestarts,
  measureRolling,
} from './bars-in-service.js';
import { measureJumps, measureTransactions } from './bars-of-transactions.js';
import { measureOverload } from './bars-under-load.js';
import { runClocks } from './clocks.js';
import { runCopies } from './copies.js';
import { countEffects, countReruns } from './counting.js';
import { describeRun, FAULTS_PREFIX, runFaults } from './fault-run.js';
import type { Purged } from './inside/purging.js';
import type { Compared } from './inside/rates.js';
import type { Size } from './inside/sizes.js';
import { runRaces } from './races.js';
import { measure, type TestedStore } from './stores.js';
import { type Cell, row } from './table.js';
import { runReleases, runTakeovers } from './takeover.js';

const LEASE_MS = 10_000;
const MINUTES = 60_000;

/** A part of the harness on one store: its figures and its report. */
export interface Measured {
  readonly cells: readonly Cell[];
  readonly notes: readonly string[];
}

export type Measuring = (store: TestedStore, seed: number, sizes: Sizes) => Promise<Measured>;

export const MEASURING: Readonly<Record<Part, Measuring>> = {
  faults: measureFaults,
  copies: measureCopies,
  races: measureRaces,
  clocks: measureClocks,
  takeover: measureTakeover,
  release: measureRelease,
  rates: measureRates,
  sizes: measureSizes,
  network: measureNetwork,
  restarts: measureRestarts,
  rolling: measureRolling,
  deploys: measureDeploys,
  claims: measureLostClaims,
  orders: measureOrders,
  goods: measureGoods,
  overload: measureOverload,
  transaction: measureTransactions,
  jumps: measureJumps,
};

async function measureFaults(store: TestedStore, seed: number, sizes: Sizes): Promise<Measured> {
  const { deliveries, faults } = sizes;
  const limitMs = 2 * MINUTES + 1.5 * (faults * 1_000 + deliveries * 100);
  const run = await runFaults(store, seed, { deliveries, faults, limitMs });
  const { ids, answered, receivers, plannedFaults } = run;
  const counted = await countEffects(store, ids, FAULTS_PREFIX, { hit: receivers.hit });
  const { extraPlain } = counted;
  const reruns = await countReruns(store, FAULTS_PREFIX);
  const unanswered = ids.length - answered.size;
  const lost = unanswered + counted.withoutPlain;
  const hits = receivers.faults;
  const isWhole = hits === plannedFaults && ids.length >= deliveries;
  const cells: Cell[] = [
    row('0', 'deliveries / faults that happened', 'as planned', `${ids.length} / ${hits}`, isWhole),
    row(
      '0a',
      'processes that ended unplanned',
      '0',
      `${receivers.unplannedEnds}`,
      receivers.unplannedEnds === 0,
    ),
    row('1', 'lost: unanswered or without an effect', '0', `${lost}`, lost === 0),
    row('2', 'ledger effects missing', '0', `${counted.withoutSale}`, counted.withoutSale === 0),
    row('2a', 'ledger effects twice', '0', `${counted.soldTwice}`, counted.soldTwice === 0),
    row(
      '2b',
      'stock and sales apart',
      '0',
      `${counted.stockError + counted.unknownSales}`,
      counted.stockError + counted.unknownSales === 0,
    ),
    row(
      '3b',
      'extra plain runs that no fault explains',
      '0',
      `${extraPlain.unexplained} of ${extraPlain.runs}`,
      extraPlain.unexplained === 0,
    ),
    row('3c', 'extra plain runs per fault', '', (extraPlain.runs / hits).toFixed(2)),
    row('3d', 'extra plain runs of one delivery, at most', '', `${extraPlain.most}`),
    row(
      '8',
      'finished handlers run again',
      '0',
      `${reruns.later + reruns.frozen} of ${reruns.records}`,
      reruns.later + reruns.frozen === 0 && reruns.records > 0,
    ),
    row('8a', 'of them begun late by a stopped process', '', `${reruns.frozen}`),
  ];
  return { cells, notes: describeRun(run) };
}

async function measureCopies(store: TestedStore, _: number, sizes: Sizes): Promise<Measured> {
  const { ids, bad } = await runCopies(store, sizes.copies);
  const { extraPlain, withoutPlain, soldTwice } = await countEffects(store, ids, 'copy-');
  const wrong = extraPlain.runs + withoutPlain + soldTwice;
  return {
    cells: [
      row('3a', 'plain twice, 40 copies at once', '0', `${wrong} of ${ids.length}`, wrong === 0),
    ],
    notes: [`${ids.length * 40} copies, of which ${bad} were not answered 200`],
  };
}

async function measureRaces(store: TestedStore, seed: number, sizes: Sizes): Promise<Measured> {
  const races = await runRaces(store, seed, {
    races: sizes.races,
    limitMs: 2 * MINUTES + sizes.races * 200,
  });
  const { withoutOneWinner, notLinearizable, staleAccepted, staleCalls } = races;
  const cells = [
    row(
      '4',
      'races of 40 without one winner',
      '0',
      `${withoutOneWinner} of ${races.races}`,
      withoutOneWinner === 0,
    ),
    row(
      '4a',
      'histories not linearizable',
      '0',
      `${notLinearizable} of ${races.histories}`,
      notLinearizable === 0,
    ),
    row(
      '5',
      'stale calls accepted',
      '0',
      `${staleAccepted} of ${staleCalls}`,
      staleAccepted === 0 && staleCalls > 0,
    ),
  ];
  const notes = [`${races.claims} claims in races, ${races.calls} calls in histories`];
  if (races.example) notes.push(`not linearizable: ${JSON.stringify(races.example)}`);
  return { cells, notes };
}

async function measureClocks(store: TestedStore, _: number, sizes: Sizes): Promise<Measured> {
  const { tries, early, worstMs } = await runClocks(store, sizes.clocks);
  return {
    cells: [
      row('6', 'leases taken early, clocks ±24 h', '0', `${early} of ${tries}`, early === 0),
      row(
        '6a',
        'lease of 1 s off by, at most',
        '≤ 150 ms',
        `${Math.round(worstMs)} ms`,
        worstMs <= 150,
      ),
    ],
    notes: [],
  };
}

async function measureTakeover(store: TestedStore, seed: number, sizes: Sizes): Promise<Measured> {
  const takeovers: number[] = [];
  while (takeovers.length < sizes.takeovers) {
    const atOnce = Math.min(8, sizes.takeovers - takeovers.length);
    takeovers.push(...(await runTakeovers(store, seed + takeovers.length, atOnce)));
  }
  const slowest = Math.max(...takeovers);
  return {
    cells: [
      row(
        '7',
        'takeover after a kill, at most',
        '≤ 11 s',
        `${(slowest / 1000).toFixed(2)} s`,
        slowest <= LEASE_MS + 1_000,
      ),
    ],
    notes: [`takeovers: ${takeovers.map((ms) => (ms / 1000).toFixed(2)).join(', ')} s`],
  };
}

async function measureRelease(store: TestedStore, _: number, sizes: Sizes): Promise<Measured> {
  const releases = await runReleases(store, sizes.releases);
  const longest = Math.max(...releases);
  const figure = `${longest.toFixed(1)} ms`;
  return {
    cells: [row('7a', 'release on SIGTERM, at most', '≤ 100 ms', figure, longest <= 100)],
    notes: [`releases: ${releases.map((ms) => ms.toFixed(1)).join(', ')} ms`],
  };
}

async function measureRates(store: TestedStore, _: number, sizes: Sizes): Promise<Measured> {
  const { slices, sliceMs } = sizes;
  const pairs = await measure<Compared>(store, { task: 'rates', slices, sliceMs });
  const rates = `${Math.round(pairs.ours)}/s ÷ ${Math.round(pairs.theirs)}/s`;
  const cells = [
    row('9', 'claim + complete ÷ bare driver', '≥ 0.8', pairs.ratio.toFixed(2), pairs.ratio >= 0.8),
  ];
  const notes = [`claim + complete: ${rates}`];
  if (store.name === 'postgres') {
    const claims = await measure<Compared>(store, { task: 'batching', slices, sliceMs });
    cells.push(
      row('9a', 'batched ÷ unbatched claims', '≥ 4', claims.ratio.toFixed(1), claims.ratio >= 4),
    );
    notes.push(`claims: ${Math.round(claims.ours)}/s ÷ ${Math.round(claims.theirs)}/s`);
  }
  return { cells, notes };
}

const MOST_BYTES: Partial<Record<TestedStore['name'], number>> = { postgres: 400, redis: 250 };

async function measureSizes(store: TestedStore, _: number, sizes: Sizes): Promise<Measured> {
  const bytes = await measure<Size>(store, { task: 'sizes', rows: sizes.rows });
  const { slices, sliceMs, backlog } = sizes;
  const purged = await measure<Purged>(store, { task: 'purging', slices, sliceMs, backlog });
  const most = MOST_BYTES[store.name];
  const p99 = `${purged.idleP99.toFixed(1)} → ${purged.purgingP99.toFixed(1)} ms`;
  return {
    cells: [
      row(
        '10',
        'bytes a done row',
        '≤ 400, Redis ≤ 250',
        `${Math.round(bytes.vacuumed)}`,
        most === undefined ? undefined : bytes.vacuumed <= most,
      ),
      row(
        '10a',
        'claim p99 while purging ÷ idle',
        '< 2',
        purged.ratio.toFixed(2),
        purged.ratio < 2,
      ),
    ],
    notes: [
      `bytes a row where all were written at once: ${Math.round(bytes.atOnce)}`,
      `claim p99: ${p99}, ${purged.purged} purged beside claims`,
    ],
  };
}
