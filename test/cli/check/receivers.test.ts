import { describe, expect, test } from 'vitest';
import { runRows } from '../../../src/cli/check/run.js';
import * as endpoints from './endpoints.js';
import { ALL_ROWS, check, runOf } from './runs.js';

const namesOf = (results: readonly { readonly row: string }[]) => results.map(({ row }) => row);

test('check names the row that crashes the endpoint, and tries no further row', async () => {
  const endpoint = await endpoints.serveEndpoint(endpoints.goesDown);
  const results = await runRows(runOf(endpoint, { only: ['tampered', 'echo', 'oversize'] }));
  await endpoint.stop();
  expect(results).toMatchObject([
    { row: 'tampered', verdict: 'passed' },
    { row: 'echo', verdict: 'failed', change: expect.stringContaining('ends a Node process') },
    { row: 'oversize', verdict: 'not tried', cause: 'The endpoint went down in an earlier row.' },
  ]);
});

/** A receiver keeps its usual time for a body, so that no machine is too slow for the row that drips. */
const WITHOUT_ENDLESS = ALL_ROWS.filter((name) => name !== 'endless');

describe.concurrent('check', () => {
  test('finds nothing wrong with a receiver', async () => {
    expect(await check(endpoints.ours, { only: WITHOUT_ENDLESS })).toEqual([]);
  });

  test('finds nothing wrong with a receiver whose time limit for a body is shorter than the row', async () => {
    const make = (kept: endpoints.Kept) => endpoints.ours(kept, { bodyTimeout: 100 });
    expect(await check(make, { only: ['endless'], endlessMs: 15_000 })).toEqual([]);
  });

  test('finds nothing wrong with a receiver if it can count only the total of all goods', async () => {
    const only = ['paid', 'duplicate', 'concurrent', 'unpaid', 'echo', 'oversize', 'down-and-up'];
    expect(await check(endpoints.ours, { only, perOrder: false })).toEqual([]);
  });

  test('names what is wrong with a receiver in memory', async () => {
    const failed = await check(endpoints.inMemory, { only: WITHOUT_ENDLESS });
    expect(namesOf(failed)).toEqual(['down-and-up']);
  });

  test.each([
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
