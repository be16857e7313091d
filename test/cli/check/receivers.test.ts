import { loadFixture } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import { createOrders } from '../../../src/cli/check/orders.js';
import { ROWS } from '../../../src/cli/check/rows/index.js';
import { type Run, runRows } from '../../../src/cli/check/run.js';
import * as endpoints from './endpoints.js';

function runOf(
  endpoint: endpoints.RunningEndpoint,
  only: readonly string[] = ROWS.map(({ name }) => name),
  perOrder = true,
): Run {
  return {
    rows: ROWS.filter(({ name }) => only.includes(name)),
    setting: {
      url: endpoint.url,
      secret: endpoints.SECRET,
      headerPrefix: 'X-Service-',
      orders: createOrders(loadFixture('order:paid')),
      timeoutMs: 10_000,
      endlessMs: 5500,
      restart: () => endpoint.restart(),
    },
    observer: {
      perOrder,
      count: async (id) => (perOrder ? endpoint.count(id) : endpoint.total()),
    },
    goodsMs: 3000,
    limitMs: 60_000,
    repeat: (row) => `--only ${row}`,
    progress: () => {},
  };
}

async function check(make: Parameters<typeof endpoints.serveEndpoint>[0], perOrder = true) {
  const endpoint = await endpoints.serveEndpoint(make);
  try {
    const startedAt = performance.now();
    const results = await runRows(runOf(endpoint, undefined, perOrder));
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    expect(results.filter(({ verdict }) => verdict === 'not tried')).toEqual([]);
    return results.filter(({ verdict }) => verdict === 'failed');
  } finally {
    await endpoint.stop();
  }
}

const namesOf = (results: readonly { readonly row: string }[]) => results.map(({ row }) => row);

test('check names the row that takes the endpoint down, and tries no row after it', async () => {
  const endpoint = await endpoints.serveEndpoint(endpoints.goesDown);
  const results = await runRows(runOf(endpoint, ['tampered', 'echo', 'oversize']));
  await endpoint.stop();
  expect(results).toMatchObject([
    { row: 'tampered', verdict: 'passed' },
    { row: 'echo', verdict: 'failed', change: expect.stringContaining('ends a Node process') },
    { row: 'oversize', verdict: 'not tried', cause: 'The endpoint went down in an earlier row.' },
  ]);
});

describe.concurrent('check', () => {
  test('passes a receiver', async () => {
    expect(await check(endpoints.ours)).toEqual([]);
  });

  test('passes a receiver if only all goods together can be counted', async () => {
    expect(await check(endpoints.ours, false)).toEqual([]);
  });

  test.each([
    ['in memory', endpoints.inMemory, ['down-and-up']],
    [
      'of octokit',
      endpoints.octokit,
      [
        ...['duplicate', 'concurrent', 'fresh-id', 'lost-answer', 'both-events', 'both-at-once'],
        ...['relabelled', 'refunded', 'content-type', 'oversize', 'endless', 'down-and-up'],
      ],
    ],
    [
      'without idempotency',
      endpoints.forgetful,
      [
        ...['duplicate', 'concurrent', 'fresh-id', 'lost-answer', 'both-events', 'both-at-once'],
        ...['relabelled', 'refunded', 'endless', 'down-and-up'],
      ],
    ],
    [
      'that looks first and writes later',
      endpoints.checkThenAct,
      ['concurrent', 'both-at-once', 'endless'],
    ],
    [
      'that remembers the delivery',
      endpoints.byDeliveryId,
      ['fresh-id', 'both-events', 'both-at-once', 'id-taken', 'endless'],
    ],
    ['that answers first', endpoints.answersFirst, ['endless', 'down-after-answer']],
    ['that believes the event', endpoints.trustsEvent, ['forged-event', 'endless']],
    [
      'that verifies nothing',
      endpoints.unguarded,
      [
        ...['tampered', 'unsigned', 'other-secret', 'other-body', 'odd-signature', 'echo'],
        ...['oversize', 'endless'],
      ],
    ],
    [
      'that verifies JSON.stringify(body)',
      endpoints.stringifies,
      // Express quotes the body that it could not parse, unless NODE_ENV is production.
      ['echo', 'escapes', 'numbers', 'spaces', 'endless'],
    ],
  ])('fails the right rows of an endpoint %s', async (_, make, rows) => {
    expect(namesOf(await check(make))).toEqual(rows);
  });
});
