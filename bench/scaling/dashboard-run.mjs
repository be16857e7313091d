/**
 * Runs a receiver for a minute and a half under traffic with failures, duplicates, refusals, dead letters
 * and a provider that gives up, and reads its metrics each second. Writes docs/plots/metrics.json, which
 * plot.mjs draws.
 *
 * `--seconds 90`, `--out <file>`.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createReceiver, memoryStore } from '../../src/index.ts';
import { durable } from './dashboard/durable.mjs';
import { Provider } from './dashboard/provider.mjs';
import { random } from './dashboard/random.mjs';
import { watch } from './dashboard/watch.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '90' },
    out: {
      type: 'string',
      default: fileURLToPath(new URL('../../docs/plots/metrics.json', import.meta.url)),
    },
  },
});
const seconds = Number(values.seconds);
const SECRET = 'a-secret-for-this-run-alone';
const QUIET = 40;
const RUSH = { from: 50, to: 60, rate: 160 };
// Long enough for the provider to give up on some deliveries. A minute later, they count as stalled.
const BROKEN = { from: 15, to: 25 };

const store = durable(memoryStore());
const { telemetry, sample } = watch(store);
// The failures in this run are intended.
const hooks = { onRejected() {}, onError() {} };
const chance = random(2);
const isBetween = ({ from, to }, second) => second >= from && second < to;
let second = 0;

/** Returns a handler that takes about `ms`, and sometimes ten times as long. */
function takes(ms) {
  return () => delay(ms * (chance() < 0.02 ? 10 : 0.5 + chance()));
}
const deliver = takes(30);

const receiver = createReceiver({ secret: SECRET, store, hooks, telemetry })
  .on('order:created', takes(5), { name: 'note' })
  .on(
    'order:paid',
    async () => {
      if (isBetween(BROKEN, second)) throw new Error('The licence server is down.');
      await deliver();
    },
    { name: 'deliver' },
  )
  .on('order:*', takes(2), { name: 'audit' })
  .on('query:created', takes(12), { name: 'notify' })
  .on(
    'query:replied',
    async ({ payload }) => {
      await delay(4);
      if (payload.number % 20 === 7) throw new Error('Nobody has this address.');
    },
    { name: 'forward' },
  );

const provider = new Provider(receiver, SECRET);
const samples = [];
const startedAt = performance.now();
for (; second < seconds; ) {
  provider.second(isBetween(RUSH, second) ? RUSH.rate : QUIET);
  await delay(startedAt + 1000 * (second + 1) - performance.now());
  samples.push({ second, ...(await sample()) });
  second += 1;
}
await provider.idle();
await receiver.close();

const conditions = {
  date: new Date().toISOString().slice(0, 10),
  seconds,
  broken: BROKEN,
  rush: RUSH,
};
writeFileSync(values.out, `${JSON.stringify({ conditions, samples }, null, 2)}\n`);
