import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { KEY } from './product.mjs';

const ROUNDS = 10;
const AT_LEAST = 0.5;

/** Compares reading a product from the sandbox with a bare Hono route that answers the same. */
export async function benchReads() {
  const servers = [
    await start('a bare route of Hono', 'hono.mjs'),
    await start('the sandbox', 'sandbox.mjs'),
  ];
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const server of round % 2 ? servers : servers.toReversed()) {
      const perSecond = await read(server);
      if (round > 0) server.rates.push(perSecond);
    }
  }
  for (const { child } of servers) child.kill();
  console.log(`\nA product is read: 32 connections, ${ROUNDS} rounds of 1 s, taking turns`);
  const [bare, sandbox] = servers.map(({ name, rates }) => {
    const rate = rates.sort((a, b) => a - b)[Math.floor(rates.length * 0.75)];
    console.log(`  ${name.padEnd(34)} ${rate.toFixed(0).padStart(7)} requests/s`);
    return rate;
  });
  const ratio = sandbox / bare;
  console.log(
    `  ratio ${ratio.toFixed(2)}: ${ratio >= AT_LEAST ? 'at least' : 'MISSED, it is to be at least'} ${AT_LEAST}`,
  );
}

async function start(name, file) {
  const path = fileURLToPath(new URL(`servers/${file}`, import.meta.url));
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  const at = JSON.parse(line);
  return { name, child, url: `http://127.0.0.1:${at.port}${at.path}`, rates: [] };
}

async function read({ name, url }) {
  const startedAt = performance.now();
  const result = await autocannon({
    url,
    headers: { authorization: `Bearer ${KEY}` },
    connections: 32,
    duration: 1,
    sampleInt: 100,
  });
  if (result.non2xx + result.errors > 0) throw new Error(`${name} did not answer 200`);
  return result['2xx'] / ((performance.now() - startedAt) / 1000);
}
