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
// SQLite needs Node 24, because Node 20 has no `node:sqlite`.
const NODE_24 = fileURLToPath(
  new URL('../test/runtimes/node_modules/node24/bin/node', import.meta.url),
);

/** The least ratio to two statements by hand for each store, by the number of requests in flight. */
const STORES = {
  postgres: { atLeast: { 1: 0.7, 64: 1.09 }, server: startPostgres },
  sqlite: { atLeast: { 1: 0.8, 64: 1 }, server: startFile, node: NODE_24 },
  redis: { atLeast: { 1: 0.8, 64: 0.78 }, server: startRedis },
};

/** Compares Express with each store to Express with two statements by hand over the same driver and server. */
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

/** The least ratios of a handler in a transaction, to the sale by hand, by the number of requests in flight. */
const SALES = {
  postgres: {
    server: startPostgres,
    atLeast: { careful: { 1: 0.5, 64: 0.43 }, statements: { 1: 0.65, 64: 0.55 } },
  },
  sqlite: {
    server: startFile,
    node: NODE_24,
    atLeast: { careful: { 1: 0.53, 64: 0.57 }, statements: { 1: 0.85, 64: 1 } },
  },
};

/** Compares a sale in the transaction of the store to the same sale by hand, in one transaction or in three. */
export async function benchSales(names = Object.keys(SALES)) {
  console.log(
    `\nA sale for each order, Express 5; ${ROUNDS} rounds of ${SECONDS} s, taking turns. By hand: careful is BEGIN, ` +
      'claim, sale, COMMIT; statements are claim, sale, done, each on its own.',
  );
  for (const name of names.filter((one) => one in SALES)) await benchSale(name, SALES[name]);
}

async function benchSale(store, { atLeast, server: startServer, node }) {
  const { url, remove } = await startServer();
  const servers = [];
  const ways = ['transaction', ...Object.keys(atLeast)];
  try {
    for (const sale of ways) {
      const environment = {
        STORE: store,
        SALE: sale,
        STORE_URL: startServer === startFile ? `${url}-${sale}` : url,
      };
      const server = await start({
        file: 'sale.mjs',
        headers: ours,
        answers: '"handled"',
        node,
        environment,
      });
      await checkAnswer(server);
      servers.push(server);
    }
    for (const inFlight of IN_FLIGHT) {
      const [transaction, ...byHand] = await takingTurns(servers, inFlight);
      for (const [at, perSecond] of byHand.entries()) {
        const way = ways[at + 1];
        const ratio = transaction / perSecond;
        const bar = atLeast[way][inFlight];
        console.log(
          `  ${store.padEnd(10)} ${`${inFlight}`.padStart(2)} in flight: ${transaction.toFixed(0).padStart(6)}/s, ` +
            `${way} ${perSecond.toFixed(0).padStart(6)}/s: ${ratio.toFixed(2)}, ` +
            `bar ${bar.toFixed(2)}: ${ratio >= bar ? 'ok' : 'missed'}`,
        );
        if (ratio < bar) process.exitCode = 1;
      }
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
  const names = positionals.length > 0 ? positionals : undefined;
  await benchStores(names);
  await benchSales(names);
  // Some of the servers' watchers keep this process alive.
  process.exit();
}
