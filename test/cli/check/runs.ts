import { loadFixture } from 'storefront-webhooks/testing';
import { expect } from 'vitest';
import { createOrders } from '../../../src/cli/check/orders.js';
import type { Result } from '../../../src/cli/check/result.js';
import { ROWS } from '../../../src/cli/check/rows/index.js';
import { type Run, runRows } from '../../../src/cli/check/run.js';
import type { Row } from '../../../src/cli/check/trial.js';
import { type RunningEndpoint, SECRET, serveEndpoint } from './endpoints.js';

export const ALL_ROWS: readonly string[] = ROWS.map(({ name }) => name);

interface Choice {
  /** The names of the rows. Default: all of them. */
  readonly only?: readonly string[];
  /** Whether the goods of one order are counted. Default true. */
  readonly perOrder?: boolean;
  /** How long a body that never ends is held open. Default: a second, for endpoints that wait without a limit. */
  readonly endlessMs?: number;
}

/** Returns a run against an endpoint. */
export function runOf(
  endpoint: RunningEndpoint,
  { only = ALL_ROWS, perOrder = true, endlessMs = 1000 }: Choice = {},
): Run {
  return {
    rows: ROWS.filter(({ name }) => only.includes(name)).map((row) => announced(row, endpoint)),
    setting: {
      url: endpoint.url,
      secret: SECRET,
      headerPrefix: 'X-Service-',
      orders: createOrders(loadFixture('order:paid')),
      timeoutMs: 10_000,
      endlessMs,
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

/** Announces the orders of a row to the endpoint if their deliveries come at once. */
function announced(row: Row, endpoint: RunningEndpoint): Row {
  if (!['concurrent', 'both-at-once'].includes(row.name)) return row;
  return {
    ...row,
    run(trial) {
      const sent = row.run(trial);
      for (const { id } of trial.orders) endpoint.atOnce.add(id);
      return sent;
    },
  };
}

/** Checks a new endpoint, and returns the rows that failed. */
export async function check(
  make: Parameters<typeof serveEndpoint>[0],
  choice?: Choice,
): Promise<Result[]> {
  const endpoint = await serveEndpoint(make);
  try {
    const results = await runRows(runOf(endpoint, choice));
    expect(results.filter(({ verdict }) => verdict === 'not tried')).toEqual([]);
    return results.filter(({ verdict }) => verdict === 'failed');
  } finally {
    await endpoint.stop();
  }
}
