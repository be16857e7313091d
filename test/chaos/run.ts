/**
 * Measures the figures of docs/chaos.md: `npm run chaos`, or `npm run chaos -- --short`.
 *
 * On each durable store, against real servers that it starts itself:
 *
 * - `faults`: four receivers in separate processes, and a sender that retries until the answer is 2xx, sometimes in
 *   several copies. The processes send themselves SIGKILL or SIGSTOP at planned points of the path of a delivery,
 *   or are hit from outside; each is replaced at once. A stopped one continues after its leases have expired.
 *   Their clocks are off by a day. Afterwards the effects are counted in the database.
 * - `copies`: forty simultaneous copies of each delivery, without a fault.
 * - `races`: forty simultaneous claims from four processes, on new, expired and failed keys, then stale calls of
 *   every verb; and histories that mix all verbs. All histories are checked to be linearizable.
 * - `clocks`: processes two days apart take leases over from each other.
 * - `takeover`: processes are killed in their handlers.
 * - `release`: processes have to close while the store answers their claim.
 * - `rates`: claims and completions compared with the bare driver, in alternating slices of one run.
 * - `sizes`: bytes per row, and claims while a backlog is purged.
 * - `network`: the receivers reach their servers through proxies, whose connections fall silent, vanish in black
 *   holes, lose answers or are cut.
 * - `restarts`: the store's server is restarted under load, gracefully and not.
 * - `rolling`: three receivers behind a balancer are restarted in turn, as a deploy does.
 * - `deploys`: two versions of the program on one store; each resumes the unfinished work of the other.
 * - `claims`: the answers to claims are lost, five times over.
 * - `orders`: two events report each order as paid, and another one as unpaid: at once and in both orders, while
 *   receivers are killed.
 * - `transaction`: handlers in transactions of the store, whose processes are killed and stopped anywhere. Then the
 *   network and the server break, as in `network` and `restarts`.
 * - `jumps`: the same handlers on a machine whose clock jumps, while their processes are hit.
 * - `overload`: one receiver gets more orders than it can handle, all at once, and for a while; with a store far away,
 *   from impatient senders, and beside forged orders.
 * - `goods`: each order calls three times at once and once more, while the processes are hit as in `faults`.
 *
 * On each queue, `faults`, `network`, `restarts`, `rolling` and `deploys` with receivers that hand deliveries off and
 * process them: hit also around the hand-off. The queue has to process all answered deliveries by itself.
 *
 * `--store` and `--only` choose, `--seed` makes another plan, `--json` and `--markdown` write the table to files. A
 * deliberate fault turns a bar red, which shows that the harness detects it:
 *
 * - `CHAOS_BREAK=complete`, `fence`, `record`, `lease`, `done`, `lose`: the store (inside/broken-store.ts).
 * - `CHAOS_BREAK=record`: goods are sent that are in no store (`goods`).
 * - `CHAOS_BREAK=ledger`, `enqueue`: the ledger accepts everything; the answer precedes the queueing.
 * - `CHAOS_CLIENTS=plain`: clients without limits, which wait for silent connections (`network`).
 * - `CHAOS_BREAK=tx-listener`: a checked-out client has no error listener (`restarts`, `network`).
 * - `CHAOS_BREAK=no-record`: while the store is away, results are dropped (`restarts`).
 * - `CHAOS_BREAK=stop-first`: the receiver is closed while its server continues (`rolling`).
 * - `CHAOS_BREAK=abrupt`: its server stops at once, and resets waiting connections (`rolling`).
 * - `CHAOS_BREAK=rename`: a handler gets another name without `formerly` (`deploys`).
 * - `CHAOS_BREAK=event`, `when`: each event has its own effects; the claim precedes `when` (`orders`).
 * - `CHAOS_BREAK=unbounded`, `timid`: a receiver sheds nothing (detected by the full run), or too much; `done`:
 *   a done delivery is forgotten; `forged`: the forger knows a secret (`overload`).
 * - `CHAOS_BREAK=park`: a delivery that was claimed five times is parked, although it never ran (`claims`).
 *
 * The result of a plan also depends on the machine; the events are logged to stderr. Exits with 1 if a bar is missed;
 * the short run does not judge speeds.
 */
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { type Part, readArguments } from './arguments.js';
import { MEASURING } from './bars.js';
import { buildPrograms } from './build.js';
import { startStore, type TestedStore } from './stores.js';
import { type Cell, isMissed, toMarkdown, toText } from './table.js';

/** Reported by the short run, and judged by the full one: on a busy machine they differ. */
const SPEEDS = ['7a', '9', '9a', '10a', '18.0e', '18.1e', '18.2e', '18.de', '18.fe'];
/** Others run at the same time. */
const MOSTLY_WAITING: readonly Part[] = ['takeover', 'claims', 'orders', 'goods'];
const BESIDE_THEM: readonly Part[] = ['copies', 'races', 'clocks'];
/** Everything after the hand-off belongs to the store, and is measured with the store alone. */
const OF_QUEUES: readonly Part[] = ['faults', 'network', 'restarts', 'rolling', 'deploys'];
const OF_SERVERS: readonly Part[] = ['network', 'restarts'];
/** The parts that run only on stores whose databases have transactions. */
const OF_DATABASES: readonly Part[] = ['transaction', 'jumps'];
const LIMIT_MS = { short: 30 * 60_000, full: 150 * 60_000 };

const startedAt = performance.now();
const { short, seed, stores, parts, sizes, json, markdown } = readArguments(process.argv.slice(2));
setTimeout(
  () => {
    console.error('The harness is not done within its time limit.');
    process.exit(1);
  },
  LIMIT_MS[short ? 'short' : 'full'],
).unref();

const results = new Map<string, Cell[]>();
const notes: Record<string, readonly string[]> = {};
const programs = await buildPrograms();
let failed = false;
for (const name of stores) {
  const store = await startStore(name, programs);
  results.set(name, []);
  const own = parts.filter((part) => isFor(store, part));
  if (own.includes('faults')) await run(store, 'faults');
  const isWaiting = (part: Part) => MOSTLY_WAITING.includes(part);
  const waiting = Promise.all(own.filter(isWaiting).map((part) => run(store, part)));
  for (const part of own.filter((one) => one !== 'faults' && !isWaiting(one))) {
    if (!BESIDE_THEM.includes(part)) await waiting;
    await run(store, part);
  }
  await waiting;
  await store.remove();
}

const conditions = [
  `seed ${seed}, ${short ? 'short' : 'full'}`,
  `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB`,
  `Node ${process.versions.node}`,
  new Date().toISOString().slice(0, 10),
  `${secondsSince(startedAt)} s`,
].join(', ');
console.log(`${toText(results)}\n\n${conditions}`);
if (short) console.log(`The bars ${SPEEDS.join(', ')} are judged by the full run only.`);
if (failed) console.log('Not all of it could be measured: see above.');
if (markdown) writeFileSync(markdown, `${toMarkdown(results)}\n\n${conditions}\n`);
if (json) {
  const all = { conditions, sizes, results: Object.fromEntries(results), notes, failed };
  writeFileSync(json, `${JSON.stringify(all, null, 2)}\n`);
}
process.exit(failed || isMissed(results, short ? SPEEDS : []) ? 1 : 0);

function secondsSince(at: number): number {
  return Math.round((performance.now() - at) / 1000);
}

function isFor({ name, handsOff, servers }: TestedStore, part: Part): boolean {
  if (handsOff) return OF_QUEUES.includes(part);
  if (OF_DATABASES.includes(part)) return name !== 'redis';
  return servers.length > 0 || !OF_SERVERS.includes(part);
}

async function run(store: TestedStore, part: Part): Promise<void> {
  const partStartedAt = performance.now();
  try {
    const measured = await MEASURING[part](store, seed, sizes);
    results.get(store.name)?.push(...measured.cells);
    notes[`${store.name}, ${part}`] = measured.notes;
    console.error(`${store.name}, ${part}: ${secondsSince(partStartedAt)} s`);
    for (const note of measured.notes) console.error(`  ${note}`);
  } catch (error) {
    failed = true;
    console.error(`${store.name}, ${part}:`, error);
  }
}
