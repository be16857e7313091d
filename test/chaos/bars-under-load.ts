import type { Sizes } from './arguments.js';
import type { Measured, Measuring } from './bars.js';
import type { Loaded, Stormed } from './messages.js';
import { startLoaded } from './overload.js';
import type { TestedStore } from './stores.js';
import { type Cell, none, row } from './table.js';

// Measures a receiver that gets more orders than it can handle.

/** The number of attempts after which a sender gives up. */
const ATTEMPTS = 14;
/** The number of concurrent calls in a measurement of the capacity: enough to keep any store busy. */
const SATURATED = 256;
const SATURATED_MS = 8_000;
/** How long Node may take to compile the hottest code. */
const COMPILED_MS = 3_000;
const MOST_RSS = 600e6;
const STILL_MS = 1_000;
const USEFUL = 0.8;
/** How much of a storm's beginning is left out, because it does not show the capacity. */
const WARM_UP_MS = 1_000;
/** The number of concurrent orders after a storm, and how long they are sent. */
const FEW = 64;
const AFTER_MS = 2_000;
const PREFIX = 'overload-';
/** How long a trip to a store far away takes, and how long an impatient sender waits. */
const TRIP_MS = 100;
const PATIENCE_MS = 2_000;

export const measureOverload: Measuring = async (store, _, sizes) => {
  const { storms, floodMs } = sizes;
  const saturation = await saturationOf(store);
  const cells: Cell[] = [row('18', 'saturation, orders a second', '', saturation.toFixed(0))];
  const notes: string[] = [];
  let number = 0;
  for (const { orders, processes } of storms) {
    const receiver = await startLoaded(store, { processes });
    // Redis still has the data of the previous storm.
    const burst = { how: 'burst', orders, prefix: `${PREFIX}${orders}-${processes}-` } as const;
    const stormed = await receiver.storm({ ...burst, attempts: ATTEMPTS });
    await receiver.close();
    const name = (letter: string) => `18.${number}${letter}`;
    number += 1;
    const useful = usefulOf(stormed, saturation);
    const what = `${orders} at once${processes > 1 ? ` to ${processes} processes` : ''}`;
    cells.push(...judge(what, name, stormed, receiver.loaded, useful));
    notes.push(`${what}: ${describe(stormed, receiver.loaded)}`);
  }
  const receiver = await startLoaded(store);
  const perSecond = 3 * saturation;
  const flood = { how: 'paced', perSecond, forMs: floodMs } as const;
  const stormed = await receiver.storm({ ...flood, prefix: `${PREFIX}flood-`, attempts: ATTEMPTS });
  // When no order waits any more, the receiver must answer as it did before the storm.
  const few = { how: 'closed', inFlight: FEW, forMs: AFTER_MS } as const;
  const after = await receiver.storm({ ...few, prefix: `${PREFIX}after-`, attempts: 1 });
  await receiver.close();
  const during = stormed.answeredAt.filter((at) => at > WARM_UP_MS && at < floodMs).length;
  const useful = (1_000 * during) / (floodMs - WARM_UP_MS) / saturation;
  const name = (letter: string) => `18.f${letter}`;
  const loaded = { ...receiver.loaded, handled: receiver.loaded.handled - after.answered };
  cells.push(...judge('three times as many', name, stormed, loaded, useful));
  cells.push(none(name('f'), 'after it: refused or cut off', after.givenUp, after.sent));
  notes.push(`three times as many: ${describe(stormed, receiver.loaded)}`);
  for (const measuring of [measureFar, measureHasty, measureForged]) {
    const measured = await measuring(store, sizes);
    cells.push(...measured.cells);
    notes.push(...measured.notes);
  }
  return { cells, notes };
};

/** Returns how many orders a receiver can do in a second. */
async function saturationOf(store: TestedStore, tripMs?: number): Promise<number> {
  const receiver = await startLoaded(store, { tripMs });
  const task = { how: 'closed', inFlight: SATURATED, forMs: SATURATED_MS } as const;
  const prefix = `${PREFIX}calm-${tripMs ?? 0}-`;
  const calm = await receiver.storm({ ...task, prefix, attempts: ATTEMPTS });
  await receiver.close();
  const { length: answered } = calm.answeredAt.filter(
    (at) => at > COMPILED_MS && at < SATURATED_MS,
  );
  // Every rate is relative to this one, and any would seem high enough.
  if (answered === 0)
    throw new Error(`The calm receiver did nothing: ${describe(calm, receiver.loaded)}.`);
  return (1_000 * answered) / (SATURATED_MS - COMPILED_MS);
}

/** A storm at a process whose store is far away, over its only connection. */
async function measureFar(store: TestedStore, { farOrders }: Sizes): Promise<Measured> {
  if (store.servers.length === 0) return { cells: [], notes: [] };
  const saturation = await saturationOf(store, TRIP_MS);
  const receiver = await startLoaded(store, { tripMs: TRIP_MS });
  const burst = { how: 'burst', orders: farOrders, prefix: `${PREFIX}far-` } as const;
  const stormed = await receiver.storm({ ...burst, attempts: ATTEMPTS });
  await receiver.close();
  const what = `${farOrders} at once, one connection, ${TRIP_MS} ms a trip`;
  const useful = usefulOf(stormed, saturation);
  return {
    cells: judge(what, (letter) => `18.d${letter}`, stormed, receiver.loaded, useful),
    notes: [`${what}: ${describe(stormed, receiver.loaded)}`],
  };
}

/** A storm of senders that hang up before the last of them can be answered. */
async function measureHasty(store: TestedStore, { hastyOrders }: Sizes): Promise<Measured> {
  const receiver = await startLoaded(store);
  const burst = { how: 'burst', orders: hastyOrders, prefix: `${PREFIX}hasty-` } as const;
  const hasty = { patienceMs: PATIENCE_MS, attempts: ATTEMPTS };
  const stormed = await receiver.storm({ ...burst, ...hasty });
  await receiver.close();
  const what = `${hastyOrders} at once, whose senders wait ${PATIENCE_MS / 1_000} s`;
  return {
    cells: judge(what, (letter) => `18.h${letter}`, stormed, receiver.loaded),
    notes: [`${what}: ${describe(stormed, receiver.loaded)}`],
  };
}

/** Genuine orders beside a flood of forged ones. */
async function measureForged(store: TestedStore, { forgedMs }: Sizes): Promise<Measured> {
  const receiver = await startLoaded(store);
  const forging = { how: 'closed', inFlight: SATURATED, forMs: forgedMs, isForged: true } as const;
  const genuine = { how: 'closed', inFlight: FEW, forMs: forgedMs } as const;
  const [forged, answered] = await Promise.all([
    receiver.storm({ ...forging, prefix: `${PREFIX}forged-`, attempts: 1 }),
    receiver.storm({ ...genuine, prefix: `${PREFIX}genuine-`, attempts: 1 }),
  ]);
  await receiver.close();
  const what = 'genuine orders beside forged ones';
  const rate = ({ attempts, overMs }: Stormed) => Math.round((1_000 * attempts) / overMs);
  return {
    cells: [
      none('18.ga', `${what}: not answered 200`, answered.sent - answered.answered, answered.sent),
      none(
        '18.gb',
        'forged orders that were not rejected',
        forged.attempts - (forged.statuses[401] ?? 0),
      ),
    ],
    notes: [`${what}: ${rate(answered)} and ${rate(forged)} a second`],
  };
}

function judge(
  what: string,
  name: (letter: string) => string,
  { givenUp, cut, sent }: Stormed,
  { handled, twice, mostRss, stillMs }: Loaded,
  useful?: number,
): Cell[] {
  const cells = [
    none(
      name('a'),
      `${what}: given up by their sender, cut off or not handled`,
      givenUp + cut + Math.max(0, sent - handled),
    ),
    none(name('b'), `${what}: handled twice`, twice + Math.max(0, handled - sent), sent),
    row(
      name('c'),
      `${what}: memory, at most`,
      '< 600 MB',
      `${(mostRss / 1e6).toFixed(0)} MB`,
      mostRss < MOST_RSS,
    ),
    row(
      name('d'),
      `${what}: event loop still, at most`,
      '< 1 s',
      `${(stillMs / 1_000).toFixed(2)} s`,
      stillMs < STILL_MS,
    ),
  ];
  if (useful === undefined) return cells;
  const isUseful = useful >= USEFUL;
  const ratio = row(
    name('e'),
    `${what}: done ÷ saturation`,
    `≥ ${USEFUL}`,
    useful.toFixed(2),
    isUseful,
  );
  return [...cells, ratio];
}

/**
 * Returns the rate of answered orders, relative to the capacity. Counts from the first second until nine tenths of
 * the orders are answered, because senders pause longer before the last ones.
 */
function usefulOf({ answeredAt }: Stormed, saturation: number): number {
  const until = answeredAt[Math.floor(0.9 * answeredAt.length)] ?? 0;
  const during = answeredAt.filter((at) => at > WARM_UP_MS && at <= until).length;
  return (1_000 * during) / (until - WARM_UP_MS) / saturation;
}

function describe({ attempts, statuses, late, cut, overMs }: Stormed, { errors }: Loaded): string {
  const answers = Object.entries({ ...statuses, 'no answer': late, 'cut off': cut }).map(
    ([status, n]) => `${n} × ${status}`,
  );
  const told = Object.entries(errors).map(([code, n]) => `${n} × ${code}`);
  return `${(overMs / 1_000).toFixed(1)} s, ${attempts} attempts: ${answers.join(', ')}; ${told.join(', ') || 'no errors'}`;
}
