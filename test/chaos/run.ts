/**
 * Measures what docs/reliability.md promises: `npm run chaos`, or `npm run chaos -- --short`.
 *
 * On each durable store, against real servers that it starts itself:
 *
 * - `faults`: four receivers in processes of their own, and a sender that sends again until the answer is
 *   2xx, in several copies at times. The processes send themselves SIGKILL or SIGSTOP at planned points of
 *   the path of a delivery, or are hit from outside; each is replaced at once. A stopped one goes on after
 *   its leases have lapsed. Their clocks are off by a day. Afterwards the effects are counted in the
 *   database.
 * - `copies`: forty copies of each delivery at once, without a fault.
 * - `races`: forty claims at once, over four processes, on fresh, lapsed and failed keys, then stale calls
 *   of every verb; and histories of all verbs mixed. All histories are checked to be linearizable.
 * - `clocks`: processes two days apart take leases over from each other.
 * - `takeover`: processes are killed in their handlers.
 * - `release`: processes are told to close while the store's answer to their claim is under way.
 * - `rates`: claims and completions beside the bare driver, in alternating slices of one run.
 * - `sizes`: bytes a row, and claims while a backlog is purged.
 *
 * On each queue, `faults` with receivers that hand off and process what comes out of the queue: hit also
 * around the hand-off. What was answered has to come out by itself.
 *
 * `--store` and `--only` choose, `--seed` gives another plan, `--json` and `--markdown` write the table to
 * files. `CHAOS_BREAK=complete` and the like (inside/broken-store.ts) break the store, to see the harness
 * find it. What a plan leads to depends on the machine as well; what has happened is told on stderr. Ends
 * with 1 where a bar is missed; the short run does not judge speeds.
 */
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { type Part, readArguments } from './arguments.js';
import { MEASURING } from './bars.js';
import { buildPrograms } from './build.js';
import { startStore, type TestedStore } from './stores.js';
import { type Cell, isMissed, toMarkdown, toText } from './table.js';

/** Told by the short run, and judged by the full one: on a machine that does other things they differ. */
const SPEEDS = ['9', '9a', '10a'];
const LIMIT_MS = { short: 15 * 60_000, full: 90 * 60_000 };

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
  // What follows the hand-off is the store's, and is measured with the store alone.
  const rest = store.handsOff
    ? []
    : parts.filter((part) => part !== 'faults' && part !== 'takeover');
  if (parts.includes('faults')) await run(store, 'faults');
  // It mostly waits, so the next ones run beside it.
  const takesOver = parts.includes('takeover') && !store.handsOff;
  const takeover = takesOver ? run(store, 'takeover') : undefined;
  for (const part of rest) {
    if (part === 'release' || part === 'rates' || part === 'sizes') await takeover;
    await run(store, part);
  }
  await takeover;
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
