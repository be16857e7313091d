import type { Measuring } from './bars.js';
import { countEffects, countReruns } from './counting.js';
import { DEPLOYS_PREFIX, runDeploys } from './deploys.js';
import { describeAnswers, describeErrors } from './fault-run.js';
import { GOODS_PREFIX, runGoods } from './goods.js';
import type { Load } from './load.js';
import { CLAIMS_PREFIX, runLostClaims } from './lost-claims.js';
import { NETWORK_PREFIX, planNetwork, runNetwork } from './network.js';
import { ORDERS_PREFIX, runOrders } from './orders.js';
import { Random } from './random.js';
import { sum } from './receivers.js';
import { planRestarts, RESTARTS_PREFIX, runRestarts } from './restarts.js';
import { ROLLING_PREFIX, runRolling } from './rolling.js';
import type { Sender } from './sender.js';
import { none, row } from './table.js';

// Measures a service while its network breaks, its store is restarted, and it is deployed.

const MINUTES = 60_000;

export const measureNetwork: Measuring = async (store, seed, { networkFaults, blackHoleMs }) => {
  const plan = planNetwork(new Random(seed), networkFaults, blackHoleMs);
  const limitMs = 5 * MINUTES + networkFaults * (45_000 + blackHoleMs);
  const run = await runNetwork(store, seed, { plan, limitMs });
  const { load, receivers, happened, recoveries } = run;
  const counted = await countEffects(store, load.ids, NETWORK_PREFIX);
  const reruns = await countReruns(store, NETWORK_PREFIX);
  const again = reruns.later + reruns.frozen;
  const slowest = Math.max(...recoveries.map(({ ms }) => ms));
  const sizes = `${load.ids.length} / ${happened}`;
  return {
    cells: [
      row(
        '11',
        'deliveries / faults of the network',
        'as planned',
        sizes,
        happened === plan.length,
      ),
      none('11a', 'processes that ended unplanned', receivers.unplannedEnds),
      none('11b', 'lost: unanswered or without an effect', unanswered(load) + counted.withoutPlain),
      none('11c', 'ledger effects missing', counted.withoutSale),
      none('11d', 'ledger effects twice', counted.soldTwice),
      none('11e', 'finished handlers run again', again, reruns.records),
      row(
        '11f',
        'first 2xx of the last receiver after a silence, at most',
        '≤ 10 s',
        seconds(slowest),
        slowest <= 10_000,
      ),
    ],
    notes: [
      describeLoad(load, run.sender),
      `well again after ${recoveries.map(({ kind, ms }) => `a ${kind}: ${seconds(ms)}`).join(', ')}`,
      `plain handlers run again: ${counted.extraPlain.runs}`,
      describeErrors(receivers),
    ],
  };
};

export const measureRestarts: Measuring = (plain, seed, { restarts }) => {
  const plan = planRestarts(new Random(seed), restarts);
  const limitMs = 5 * MINUTES + restarts * 30_000;
  return runRestarts(plain, seed, { plan, limitMs }, async (run) => {
    const { load, receivers, happened, store, leftOpen } = run;
    const { unrecorded } = receivers;
    const counted = await countEffects(store, load.ids, RESTARTS_PREFIX, { unrecorded });
    const { extraPlain } = counted;
    const lost = unanswered(load) + counted.withoutPlain + counted.withoutSale;
    const sizes = `${load.ids.length} / ${happened}`;
    return {
      cells: [
        row('12', 'deliveries / restarts of the store', 'as planned', sizes, happened === restarts),
        none('12a', 'processes that ended unplanned', receivers.unplannedEnds),
        none('12b', 'lost: unanswered or without an effect', lost),
        none('12c', 'ledger effects twice', counted.soldTwice),
        none('12d', 'plain handlers run again unreported', extraPlain.unexplained, extraPlain.runs),
        none('12e', 'answered 2xx and left open', leftOpen.length, load.answered.size),
        row(
          '12f',
          'outcome_unrecorded, reported',
          '',
          `${receivers.errorsOf('outcome_unrecorded')}`,
        ),
      ],
      notes: [
        describeLoad(load, run.sender),
        `left open: ${leftOpen.slice(0, 10).join(', ') || 'none'}`,
        describeErrors(receivers),
      ],
    };
  });
};

export const measureGoods: Measuring = async (store, seed, { goods, goodsFaults }) => {
  const limitMs = 2 * MINUTES + 1_500 * goodsFaults + 100 * goods;
  const run = await runGoods(store, seed, { orders: goods, faults: goodsFaults, limitMs });
  const { given, answers, receivers, plannedFaults } = run;
  const counts = [...given.values()].map(({ size }) => size);
  const reruns = await countReruns(store, GOODS_PREFIX);
  const made = await store.queryRuns(
    `SELECT COUNT(*) AS n FROM handler_run WHERE delivery LIKE '${GOODS_PREFIX}%'`,
  );
  const sizes = `${given.size} / ${receivers.faults}`;
  const again = reruns.later + reruns.frozen;
  return {
    cells: [
      row(
        '17',
        'orders of goods / faults',
        'as planned',
        sizes,
        receivers.faults === plannedFaults,
      ),
      none(
        '17a',
        'orders with two different goods',
        counts.filter((n) => n > 1).length,
        given.size,
      ),
      none('17b', 'orders without their goods', counts.filter((n) => n === 0).length, given.size),
      none('17c', 'goods made again that were recorded', again, reruns.records),
      none('17d', 'processes that ended unplanned', receivers.unplannedEnds),
    ],
    notes: [
      `${answers} answers with goods; made ${Number(made[0]?.n) - given.size} times more than once`,
      describeErrors(receivers),
    ],
  };
};

export const measureRolling: Measuring = (store, seed, sizes) => {
  const rounds = store.name === 'postgres' ? sizes.stops : sizes.rounds;
  const limitMs = 3 * MINUTES + rounds * 3 * 40_000;
  return runRolling(store, seed, { rounds, limitMs }, async ({ load, sender, front, goneMs }) => {
    const counted = await countEffects(store, load.ids, ROLLING_PREFIX);
    const lost = unanswered(load) + counted.withoutPlain + counted.withoutSale;
    const refusals = (100 * (sender.answers.get(503) ?? 0)) / sender.attempts;
    const slowest = Math.max(...goneMs);
    const sizes = `${load.ids.length} / ${goneMs.length}`;
    return {
      cells: [
        row('13', 'deliveries / restarts of a receiver', '', sizes),
        none('13a', 'lost: unanswered or without an effect', lost),
        row('13b', 'answers that were 503', '< 1 %', `${refusals.toFixed(1)} %`, refusals < 1),
        row(
          '13c',
          'connections reset',
          '≤ 1 in 5 stops',
          `${front.resets}`,
          front.resets * 5 <= goneMs.length,
        ),
        row('13d', 'gone after SIGTERM, at most', '≤ 20 s', seconds(slowest), slowest <= 20_000),
      ],
      notes: [
        describeLoad(load, sender),
        `${front.refused} connections refused, gone after ${goneMs.map(seconds).join(', ')}`,
        `ledger effects twice: ${counted.soldTwice}, plain handlers run again: ${counted.extraPlain.runs}`,
      ],
    };
  });
};

export const measureDeploys: Measuring = async (store, seed, { halfDone }) => {
  const limitMs = 2 * MINUTES + halfDone * 200;
  const run = await runDeploys(store, seed, { deliveries: halfDone, limitMs });
  const { ids, older, newer } = run;
  const counted = await countEffects(store, ids, DEPLOYS_PREFIX);
  const lost = ids.length - run.answered + counted.withoutPlain + counted.withoutSale;
  const [atNewer, atOlder] = [
    await countReruns(store, DEPLOYS_PREFIX, newer.pids),
    await countReruns(store, DEPLOYS_PREFIX, older.pids),
  ];
  const what = 'finished handlers run again';
  return {
    cells: [
      row('14', 'deliveries / moves to the other version', '', `${ids.length} / ${run.moves}`),
      none('14a', 'lost: unanswered or without an effect', lost),
      none('14b', 'ledger effects twice', counted.soldTwice),
      none('14c', `${what} by the newer one`, atNewer.later + atNewer.frozen, atNewer.records),
      none('14d', `${what} by the older one`, atOlder.later + atOlder.frozen, atOlder.records),
    ],
    notes: [describeAnswers(run.sender), describeErrors(newer)],
  };
};

export const measureLostClaims: Measuring = async (store, seed, { lostClaims }) => {
  const limitMs = 3 * MINUTES + lostClaims * 500;
  const { load, sender, receivers } = await runLostClaims(store, seed, {
    deliveries: lostClaims,
    limitMs,
  });
  const { withoutPlain } = await countEffects(store, load.ids, CLAIMS_PREFIX);
  const open = unanswered(load);
  return {
    cells: [
      none('15', 'unanswered where claims got no answer', open, load.ids.length),
      none('15a', 'parked without a run', withoutPlain - open, load.ids.length),
    ],
    notes: [describeLoad(load, sender), describeErrors(receivers)],
  };
};

export const measureOrders: Measuring = async (store, seed, { orders, orderKills }) => {
  const limitMs = 3 * MINUTES + orders * 200;
  const run = await runOrders(store, seed, { orders, kills: orderKills, limitMs });
  const { load, sender, receivers, unpaid } = run;
  const kills = sum(receivers.kills);
  const counted = await countEffects(store, load.ids, ORDERS_PREFIX, { hit: receivers.hit });
  const { unexplained, runs } = counted.extraPlain;
  const lost = unanswered(load) + counted.withoutPlain + counted.withoutSale;
  const ignored = sender.outcomes.get('ignored') ?? 0;
  const claimed = [...receivers.claimed].filter((id) => id.endsWith('-unpaid')).length;
  return {
    cells: [
      row(
        '16',
        'orders by both events / kills',
        'as planned',
        `${load.ids.length} / ${kills}`,
        load.ids.length >= orders && kills === orderKills,
      ),
      none('16a', 'processes that ended unplanned', receivers.unplannedEnds),
      none('16b', 'lost: unanswered or without an effect', lost),
      none('16c', 'ledger effects twice', counted.soldTwice, load.ids.length),
      none('16d', 'extra plain runs that no kill explains', unexplained, runs),
      none('16e', 'unpaid updates that were not ignored', unpaid - ignored, unpaid),
      none('16f', 'unpaid updates that claimed something', claimed, load.ids.length),
    ],
    notes: [
      describeLoad(load, sender),
      `${receivers.claimed.size} deliveries claimed, ${run.redriven} dead deliveries re-driven`,
      describeErrors(receivers),
    ],
  };
};

function unanswered({ ids, answered }: Load): number {
  return ids.length - answered.size;
}

function describeLoad({ ids }: Load, sender: Sender): string {
  return `${ids.length} deliveries, ${sender.attempts} attempts, ${describeAnswers(sender)}`;
}

function seconds(ms: number): string {
  return Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : 'never';
}
