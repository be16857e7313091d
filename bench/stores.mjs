import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/postgres.ts';
import { startRedis } from '../test/support/redis.ts';
import { ours } from './contenders.mjs';
import { load } from './load.mjs';
import { checkAnswer, start, upperQuartile } from './socket.mjs';

const ROUNDS = 12;
const SECONDS = 1;
const IN_FLIGHT = [1, 64];
// Node 20 has no SQLite.
const NODE_24 = fileURLToPath(
  new URL('../test/runtimes/node_modules/node24/bin/node', import.meta.url),
);

/** What is to be at least so many times what two statements by hand do, by how many are in flight. */
const STORES = {
  postgres: { atLeast: { 1: 0.7, 64: 1.09 }, server: startPostgres },
  sqlite: { atLeast: { 1: 0.8, 64: 1 }, server: startFile, node: NODE_24 },
  redis: { atLeast: { 1: 0.8, 64: 0.78 }, server: startRedis },
};

/** Express with each store, beside Express with two statements by hand over the same driver and server. */
export async function benchStores(names = Object.keys(STORES)) {
  console.log(
    `\nStores: signed orders of 1 KB to Express 5; ${ROUNDS} rounds of ${SECONDS} s, taking turns. ` +
      'By hand: one statement claims, one says that it is done.',
  );
  for (const name of names) await benchStore(name, STORES[name]);
}

async function benchStore(store, { atLeast, server: startServer, node }) {
  const { url, remove } = await startServer();
  const servers = [];
  try {
    for (const file of ['store-by-hand.mjs', 'store.mjs']) {
      const environment = { STORE: store, STORE_URL: startServer === startFile ? url + file : url };
      const server = await start({ file, headers: ours, answers: '"handled"', node, environment });
      await checkAnswer(server);
      servers.push(server);
    }
    for (const inFlight of IN_FLIGHT) {
      const [byHand, receiver] = await takingTurns(servers, inFlight);
      const ratio = receiver / byHand;
      const isMet = ratio >= atLeast[inFlight];
      console.log(
        `  ${store.padEnd(10)} ${`${inFlight}`.padStart(2)} in flight: ${receiver.toFixed(0).padStart(6)}/s, ` +
          `by hand ${byHand.toFixed(0).padStart(6)}/s: ${ratio.toFixed(2)}, ` +
          `bar ${atLeast[inFlight].toFixed(2)}: ${isMet ? 'ok' : 'missed'}`,
      );
      if (!isMet) process.exitCode = 1;
    }
  } finally {
    for (const { child } of servers) child.kill();
    await remove();
  }
}

async function takingTurns(servers, connections) {
  const results = servers.map(() => []);
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    const order = servers.map((_, at) => (round % 2 ? at : servers.length - 1 - at));
    for (const at of order) {
      const { perSecond, bad } = await load(servers[at], { connections, seconds: SECONDS });
      if (bad > 0) throw new Error(`${bad} requests got no 2xx answer`);
      if (round > 0) results[at].push(perSecond);
    }
  }
  return results.map(upperQuartile);
}

function startFile() {
  const folder = mkdtempSync(join(tmpdir(), 'wh-bench-'));
  return {
    url: join(folder, 'webhooks.db'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { positionals } = parseArgs({ allowPositionals: true });
  await benchStores(positionals.length > 0 ? positionals : undefined);
  // Of the servers' watchers, some hold this process.
  process.exit();
}
