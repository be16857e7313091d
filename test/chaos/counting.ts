import { STOCK } from './inside/effects.js';
import type { TestedStore } from './stores.js';

/** Additional runs of the plain handler. */
export interface Extra {
  readonly runs: number;
  /** The largest number of additional runs of one delivery. */
  readonly most: number;
  /** Additional runs that neither a fault of a process with that delivery nor a report about it explains. */
  readonly unexplained: number;
}

/** The effects of some deliveries, counted in the database. */
export interface Counted {
  readonly withoutPlain: number;
  readonly withoutSale: number;
  readonly soldTwice: number;
  /** Sales of deliveries that the sender never sent. */
  readonly unknownSales: number;
  /** The difference between the missing stock and the number of sales. */
  readonly stockError: number;
  readonly extraPlain: Extra;
}

/** The reasons for which a handler may run again. */
interface Reasons {
  /** The processes that a fault hit. */
  readonly hit?: ReadonlySet<number>;
  /** How often a receiver reported that it could not record the result of a delivery in time, by delivery. */
  readonly unrecorded?: ReadonlyMap<string, number>;
}

export async function countEffects(
  store: TestedStore,
  ids: readonly string[],
  prefix: string,
  reasons: Reasons = {},
): Promise<Counted> {
  const like = `delivery LIKE '${prefix}%'`;
  const plain = new Map<string, number[]>();
  const runs = await store.queryRuns(
    `SELECT delivery, process FROM handler_run WHERE handler = 'plain' AND ${like}`,
  );
  for (const { delivery, process } of runs) {
    const processes = plain.get(String(delivery)) ?? [];
    plain.set(String(delivery), [...processes, Number(process)]);
  }
  const sales = await countsOf(
    store.query,
    `SELECT delivery AS name, COUNT(*) AS n FROM sale WHERE ${like} GROUP BY delivery`,
  );
  const sent = new Set(ids);
  const gone = await one(store.query, `SELECT SUM(${STOCK} - remaining) AS n FROM stock`);
  return {
    withoutPlain: ids.filter((id) => !plain.has(id)).length,
    withoutSale: ids.filter((id) => !sales.has(id)).length,
    soldTwice: [...sales.values()].filter((n) => n > 1).length,
    unknownSales: [...sales.keys()].filter((id) => !sent.has(id)).length,
    stockError: Math.abs(gone - (await one(store.query, 'SELECT COUNT(*) AS n FROM sale'))),
    extraPlain: extraOf(plain, reasons),
  };
}

/** @param runs - The processes that ran each delivery. */
function extraOf(
  runs: ReadonlyMap<string, readonly number[]>,
  { hit, unrecorded }: Reasons,
): Extra {
  const extra = { runs: 0, most: 0, unexplained: 0 };
  for (const [delivery, processes] of runs) {
    const more = processes.length - 1;
    const faults = new Set(processes.filter((process) => hit?.has(process))).size;
    extra.runs += more;
    extra.most = Math.max(extra.most, more);
    extra.unexplained += Math.max(0, more - faults - (unrecorded?.get(delivery) ?? 0));
  }
  return extra;
}

export interface Reruns {
  /** Runs that a later attempt started after the handler was recorded as done. */
  readonly later: number;
  /** Runs that an earlier attempt, stopped in the meantime, started after the handler was recorded as done. */
  readonly frozen: number;
  readonly records: number;
}

/** @param processes - Counts only the work of these. Default: all. */
export async function countReruns(
  { queryRuns }: TestedStore,
  prefix: string,
  processes?: ReadonlySet<number>,
): Promise<Reruns> {
  const own = processes ? ` AND r.process IN (${[...processes].join(', ') || 'NULL'})` : '';
  const reruns = (condition: string) =>
    one(
      queryRuns,
      `SELECT COUNT(*) AS n FROM handler_run AS r WHERE delivery LIKE '${prefix}%'${own} AND EXISTS (
         SELECT 1 FROM recorded AS c
         WHERE c.key = r.key AND c.handler = r.handler AND r.started > c.at AND ${condition})`,
    );
  return {
    later: await reruns('r.attempt >= c.attempt'),
    frozen: await reruns('r.attempt < c.attempt'),
    records: await one(
      queryRuns,
      `SELECT COUNT(*) AS n FROM recorded
       WHERE key IN (SELECT key FROM handler_run WHERE delivery LIKE '${prefix}%')`,
    ),
  };
}

type Query = TestedStore['query'];

async function countsOf(query: Query, sql: string): Promise<Map<string, number>> {
  const rows = await query(sql);
  return new Map(rows.map(({ name, n }) => [String(name), Number(n)]));
}

async function one(query: Query, sql: string): Promise<number> {
  const [row] = await query(sql);
  return Number(row?.n ?? 0);
}
