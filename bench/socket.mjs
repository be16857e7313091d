import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BARS, CONTENDERS, COSTS, SECRET } from './contenders.mjs';
import { load, sendOne } from './load.mjs';
import { processorMs } from './processor-time.mjs';

const LOAD = { connections: 32, seconds: 1 };
const ROUNDS = 12;

/** Compares whole servers under load: ours, those written by hand, and octokit's. */
export async function benchSocket() {
  const servers = [];
  try {
    for (const contender of CONTENDERS) servers.push(await start(contender));
    for (const server of servers) await checkAnswer(server);
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      // Alternate the order, so that no server always follows the same one.
      for (const server of round % 2 ? servers : servers.toReversed()) {
        const before = processorMs(server.child.pid);
        const result = await load(server, LOAD);
        const usedMs = processorMs(server.child.pid) - before;
        server.bad += result.bad;
        if (round > 0) server.results.push({ ...result, usedMs });
      }
    }
  } finally {
    for (const { child } of servers) child.kill();
  }
  print(servers);
}

/** @param contender - `node` and `environment` are optional. */
export async function start(contender) {
  const child = spawn(
    contender.node ?? process.execPath,
    [fileURLToPath(new URL(`servers/${contender.file}`, import.meta.url))],
    {
      env: {
        ...process.env,
        NODE_ENV: 'production',
        WEBHOOK_SECRET: SECRET,
        ...contender.environment,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`${contender.file} ended with ${code} before it listened`);
  });
  const [port] = await Promise.race([once(createInterface(child.stdout), 'line'), failed]);
  // From here on, the benchmark ends the process itself, and its exit is no failure.
  failed.catch(() => {});
  return { ...contender, child, port, bad: 0, results: [] };
}

export async function checkAnswer(server) {
  const { status, body } = await sendOne(server);
  if (status !== 200 || !body.includes(server.answers)) {
    throw new Error(`${server.file} answered ${status} ${body}`);
  }
}

function print(servers) {
  console.log(
    `\nWhole servers: ${LOAD.connections} connections, signed orders of 1 KB; ` +
      `${ROUNDS} rounds of ${LOAD.seconds} s, taking turns.\nServer and load generator share ` +
      `${availableParallelism()} cores: whatever else runs there changes the ratios, too.`,
  );
  const byFile = new Map();
  for (const { name, file, results, bad } of servers) {
    const perSecond = upperQuartile(results.map((result) => result.perSecond));
    const p99 = median(results.map((result) => result.p99));
    const sum = (of) => results.reduce((total, result) => total + of(result), 0);
    const cost = (1_000 * sum(({ usedMs }) => usedMs)) / sum(({ handled }) => handled);
    byFile.set(file, { name, perSecond, cost });
    console.log(
      `  ${name.padEnd(34)} ${perSecond.toFixed(0).padStart(7)} requests/s ` +
        `${p99.toFixed(2).padStart(7)} ms p99 ${cost.toFixed(0).padStart(6)} µs of processor time`,
    );
    if (bad > 0) fail(`${bad} requests to ${name} got no 2xx answer`);
  }
  console.log('  Ratios of requests/s, at least:');
  for (const { atLeast: bar, ...pair } of BARS) {
    compare(byFile, pair, 'perSecond', bar, (ratio) => ratio >= bar);
  }
  console.log('  Ratios of processor time for a delivery, at most:');
  for (const { atMost: bar, ...pair } of COSTS) {
    compare(byFile, pair, 'cost', bar, (ratio) => ratio <= bar);
  }
}

function compare(byFile, { file, than }, figure, bar, isMet) {
  const ours = byFile.get(file);
  const theirs = byFile.get(than);
  const ratio = ours[figure] / theirs[figure];
  console.log(
    `  ${`${ours.name} / ${theirs.name}`.padEnd(60)} ${ratio.toFixed(2).padStart(5)}, ` +
      `bar ${bar}: ${isMet(ratio) ? 'ok' : 'missed'}`,
  );
  if (!isMet(ratio)) process.exitCode = 1;
}

function fail(message) {
  console.error(`FAILED: ${message}`);
  process.exitCode = 1;
}

// The upper quartile, because a disturbance can only make a machine slower.
export function upperQuartile(values) {
  return values.sort((a, b) => b - a)[values.length >> 2];
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}
