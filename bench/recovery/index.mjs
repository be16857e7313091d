import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from '../../dist/api.js';
import { createReceiver, memoryStore } from '../../dist/index.js';
import { recover } from '../../dist/recovery.js';

const ENTRIES = Number(process.env.ENTRIES ?? 100_000);
const PER_PAGE = 50;
const ROUNDS = 3;
const AT_LEAST = 0.5;
const DAY_MS = 24 * 60 * 60_000;

/**
 * Measures how fast recovery reads and judges a long log, how fast its pages are served, and how much memory
 * recovery uses.
 */
export async function benchRecovery() {
  const provider = fileURLToPath(new URL('provider.mjs', import.meta.url));
  const child = spawn(process.execPath, [provider, String(ENTRIES)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { baseUrl, key, secret, url, now } = JSON.parse(line);
  const client = createClient({ baseUrl, auth: { accessToken: key } });
  // This store is not really durable. That does not matter, because no handler runs.
  const store = { ...memoryStore(), durable: true };
  const receiver = createReceiver({ secret, store }).on('order:created', () => {});
  const pages = ENTRIES / PER_PAGE;
  const serve = async () => {
    for (let page = 1; page <= pages; page++) {
      const logs = `${baseUrl}/api/v2/webhooks/logs?page=${page}&per_page=${PER_PAGE}`;
      await (await fetch(logs, { headers: { authorization: `Bearer ${key}` } })).text();
    }
  };
  const kept = [];
  const read = async () => {
    const { log, requests } = await recover({
      receiver,
      client,
      url,
      now: new Date(now + DAY_MS),
      perSecond: Number.POSITIVE_INFINITY,
      onProgress: ({ done }) => done % (pages / 10) === 0 && kept.push(memory()),
    });
    if (log.done !== ENTRIES) throw new Error(`Of ${ENTRIES}, ${log.done} were done.`);
    return requests;
  };
  const rates = { served: [], read: [] };
  for (let round = 0; round < ROUNDS; round++) {
    rates.served.push(pages / (await secondsOf(serve)));
    let requests = 0;
    const seconds = await secondsOf(async () => {
      requests = await read();
    });
    rates.read.push(requests / seconds);
  }
  child.stdin.end();
  const [served, judged] = [Math.max(...rates.served), Math.max(...rates.read)];
  const ratio = judged / served;
  console.log(`\nA log of ${ENTRIES.toLocaleString('en')} entries, ${PER_PAGE} on a page`);
  console.log(`  served, one after the other${served.toFixed(0).padStart(15)} pages/s`);
  console.log(`  read and judged by recover()${judged.toFixed(0).padStart(14)} pages/s`);
  // The first half of the first reading fills caches, and is not counted.
  const [least, most] = [Math.min(...kept.slice(5)), Math.max(...kept.slice(5))];
  const mib = (bytes) => (bytes / 1024 / 1024).toFixed(1);
  console.log(`  memory while it reads        ${mib(least)} to ${mib(most)} MiB`);
  console.log(
    `  ratio ${ratio.toFixed(2)}: ${ratio >= AT_LEAST ? 'at least' : 'MISSED, it is to be at least'} ${AT_LEAST}`,
  );
}

async function secondsOf(run) {
  const startedAt = performance.now();
  await run();
  return (performance.now() - startedAt) / 1000;
}

function memory() {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
