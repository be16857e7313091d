/**
 * Measures what a delivery costs: to receive it, to remember it in each store, to add it to each queue, and to
 * take it out again. Writes docs/plots/costs.json, from which docs/scaling.md and its plots are made (plot.mjs).
 * Needs PostgreSQL and Redis, and test/runtimes for its Node 24.
 *
 * `--seconds 10` for each measurement, `--out <file>`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../test/support/postgres.ts';
import { startRedis } from '../../test/support/redis.ts';
import { readConditions } from './conditions.mjs';
import { measureHttp } from './http.mjs';
import { inProcess } from './processes.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    out: {
      type: 'string',
      default: fileURLToPath(new URL('../../docs/plots/costs.json', import.meta.url)),
    },
  },
});
const ms = Number(values.seconds) * 1000;
const task = { ms, inFlight: 64, connections: 10 };

const folder = mkdtempSync(join(tmpdir(), 'wh-scaling-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const costs = {};
const conditions = { ...readConditions(folder), seconds: ms / 1000, inFlight: task.inFlight };
if (conditions.load > 0.5) console.warn(`The machine is busy: its load is ${conditions.load}.`);

await measure('http', () => measureHttp(ms));
await measure('receive', () => inProcess('receive.mjs', { ...task, inFlight: 1 }));
await measureStore('memory', {});
await measureStore('sqlite', { file: join(folder, 'webhooks.db') });
await withServer(startPostgres, async (url) => {
  await measureStore('postgres', { url });
});
await withServer(startPostgres, (url) => measureQueue('pg-boss', url));
await withServer(startRedis, (url) => measureStore('redis', { url }));
await withServer(startRedis, (url) => measureQueue('bullmq', url));

writeFileSync(values.out, `${JSON.stringify({ conditions, costs }, round, 2)}\n`);
// Some of the servers' watchers keep this process alive.
process.exit();

async function measure(name, run) {
  costs[name] = await run();
  console.log(name, JSON.stringify(costs[name], round));
}

function measureStore(store, where) {
  return measure(store, () => inProcess('store.mjs', { ...task, ...where, store }));
}

async function measureQueue(queue, url) {
  const { enqueue, drain, jobBytes } = await inProcess('queue.mjs', { ...task, url, queue });
  await measure(`${queue} enqueue`, () => ({ ...enqueue, jobBytes }));
  await measure(`${queue} drain`, () => drain);
}

/** Each measurement has its own server, so that the data of one does not slow the next. */
async function withServer(startOne, run) {
  const server = await startOne();
  try {
    await run(server.url);
  } finally {
    await server.remove();
  }
}

function round(_name, value) {
  return typeof value === 'number' && !Number.isInteger(value)
    ? Number(value.toPrecision(4))
    : value;
}
