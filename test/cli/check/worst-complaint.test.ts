import { createServer } from 'node:http';
import { loadFixture } from 'storefront-webhooks/testing';
import { expect, test } from 'vitest';
import { createOrders } from '../../../src/cli/check/orders.js';
import { runRows } from '../../../src/cli/check/run.js';
import { ONCE, type Trial } from '../../../src/cli/check/trial.js';
import { SECRET, serve } from '../command.js';

/** Runs a row against an endpoint that answers 500, and returns its result. The goods of its orders are `counts`. */
async function judge(run: (trial: Trial) => Promise<void>, counts: readonly number[]) {
  const { url } = await serve(createServer((_, response) => response.writeHead(500).end()));
  const ids: string[] = [];
  const row = {
    ...{ name: 'counted', title: '', goods: ONCE },
    async run(trial: Trial) {
      await run(trial);
      ids.push(...trial.orders.map(({ id }) => id));
    },
  };
  const [result] = await runRows({
    rows: [row],
    setting: {
      ...{ url: new URL(url), secret: SECRET, headerPrefix: 'X-Service-', restart: undefined },
      ...{ orders: createOrders(loadFixture('order:paid')), timeoutMs: 10_000, endlessMs: 0 },
    },
    observer: { perOrder: true, count: async (id) => counts[ids.indexOf(id)] ?? 0 },
    ...{ goodsMs: 0, limitMs: 60_000, repeat: (name) => name, progress() {} },
  });
  return result;
}

const TWICE = {
  verdict: 'failed',
  cause: 'Goods were handed out twice instead of once.',
  customer: 'Two keys were handed out for one payment.',
};

test('check names a second key rather than a wrong answer', async () => {
  const run = async (trial: Trial) => {
    await trial.refuse(trial.paid(), {}, 'A stranger gets goods.');
  };
  expect(await judge(run, [2])).toMatchObject({ ...TWICE, answers: [500] });
});

test('check names a second key rather than another order of the row that gets none', async () => {
  const run = async (trial: Trial) => {
    for (let order = 0; order < 2; order++) trial.newOrder();
  };
  expect(await judge(run, [2, 0])).toMatchObject({ ...TWICE, goods: 2 });
});
