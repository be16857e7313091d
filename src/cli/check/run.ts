import { once, setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { GoodsCount } from './goods.js';
import type { Observer } from './observer.js';
import { notTried, outOfTime, type Result } from './result.js';
import { genuine } from './rows/index.js';
import type { Complaint, Row } from './trial.js';
import { type Setting, Trial } from './trial.js';

/** The options of a run. */
export interface Run {
  readonly rows: readonly Row[];
  readonly setting: Omit<Setting, 'signal' | 'took'>;
  readonly observer: Observer | undefined;
  /** How long to wait for goods after the answer. */
  readonly goodsMs: number;
  /** How long the whole run may take. */
  readonly limitMs: number;
  /** The command that runs one row alone. */
  repeat(row: string): string;
  /** Called with the number of finished rows, before the next row begins. */
  progress(done: number, row: string): void;
}

const AT_ONCE = 6;
/** The time that is reserved for the last count. */
const LAST_MS = 5000;
/** The time of it that the counting itself may take. */
const COUNTING_MS = 1000;
/** How long to wait for goods that must not come. */
const UNWANTED_MS = 300;

/** Runs rows, and returns their results in the order of the rows. */
export async function runRows(run: Run): Promise<Result[]> {
  const { rows } = run;
  const startedAt = performance.now();
  const stop = new AbortController();
  const time = AbortSignal.timeout(Math.max(1, run.limitMs - LAST_MS));
  const signal = AbortSignal.any([time, stop.signal]);
  // Each pending request adds a listener.
  setMaxListeners(0, signal);
  const setting: Setting = { ...run.setting, signal, took: [] };
  const tried = new Map<Row, Tried>();
  const each = async (row: Row) => {
    run.progress(tried.size, row.name);
    if (signal.aborted) return;
    const found = await tryRow(row, setting, run).catch((error: unknown) => {
      stop.abort();
      throw error;
    });
    // A row that was cut short proves nothing.
    if (!signal.aborted || row === genuine) tried.set(row, found);
  };

  const [first, ...others] = rows;
  let isRefused = false;
  let queue: readonly Row[] = rows;
  if (first === genuine) {
    await each(genuine);
    isRefused = complaintOf(tried.get(genuine)) !== undefined;
    queue = isRefused ? [] : others;
  }
  const possible = queue.filter(({ needsRestart }) => !needsRestart || setting.restart);
  const beside = possible.filter(({ when }) => when === 'beside').map(each);
  const together = possible.filter(({ when }) => when === undefined);
  // If the observer counts all goods instead of one order's, only one row may run at a time.
  await inParallel(together, run.observer?.perOrder === false ? 1 : AT_ONCE, each);
  await Promise.all(beside);
  for (const row of possible.filter(({ when }) => when === 'alone')) {
    if (!isDown(tried)) await each(row);
  }
  const rest = startedAt + run.limitMs - performance.now();
  const isCountedAgain = isRefused || countAgain([...tried.values()], run, rest, signal.aborted);
  await Promise.race([isCountedAgain, wait(rest, undefined, { ref: false })]);

  return rows.map((row) => {
    const found = tried.get(row);
    if (found) return toResult(row, found, run);
    if (isRefused)
      return notTried(row, 'The endpoint did not handle a paid order correctly: fix that first.');
    if (isDown(tried)) return notTried(row, 'The endpoint went down in an earlier row.');
    if (row.needsRestart && !setting.restart) {
      return notTried(
        row,
        "This row needs --restart '<command>', which stops the endpoint and starts it again.",
      );
    }
    return outOfTime(row, run.repeat(row.name));
  });
}

function isDown(tried: ReadonlyMap<Row, Tried>): boolean {
  return [...tried.values()].some(({ trial }) => trial.isDown);
}

/** A row that was run. */
interface Tried {
  readonly trial: Trial;
  readonly goods: GoodsCount | undefined;
  readonly ms: number;
}

async function tryRow(row: Row, setting: Setting, { observer, goodsMs }: Run): Promise<Tried> {
  const startedAt = performance.now();
  const isCounted = observer && row.when !== 'beside';
  const before = isCounted && !observer.perOrder ? await observer.count('') : 0;
  const trial = new Trial(row, setting);
  await Promise.race([row.run(trial), once(setting.signal, 'abort')]);
  const ms = Math.round(performance.now() - startedAt);
  const goods =
    isCounted && trial.orders.length > 0
      ? new GoodsCount(observer, trial.orders, before)
      : undefined;
  // If a request got no answer, the endpoint may be down.
  if (trial.answers.includes(0)) await trial.checkAlive();
  if (setting.signal.aborted || trial.isDown) return { trial, goods: undefined, ms };
  if (goods && trial.complaints.length === 0) {
    if (!observer?.perOrder) await wait(UNWANTED_MS);
    await goods.settle(goodsMs, setting.signal);
  } else await goods?.count();
  return { trial, goods, ms };
}

/** Counts goods once more, after the time that goods may take: those that are handed out twice may come later. */
async function countAgain(
  tried: readonly Tried[],
  { observer, goodsMs }: Run,
  restMs: number,
  isCutShort: boolean,
): Promise<void> {
  if (!observer || tried.some(({ trial }) => trial.isDown)) return;
  const counted = tried.flatMap(({ goods }) => goods ?? []);
  // A count of all goods belongs to the last row only if no other row handed out some since.
  const again = observer.perOrder ? counted : isCutShort ? [] : counted.slice(-1);
  if (again.length === 0) return;
  await wait(Math.max(0, Math.min(goodsMs, restMs - COUNTING_MS)));
  await inParallel(again, AT_ONCE, (goods) => goods.count());
}

function toResult(row: Row, tried: Tried, run: Run): Result {
  const { trial, goods, ms } = tried;
  const { name, title, needsCount = false } = row;
  const told = {
    row: name,
    title,
    answers: trial.answers,
    ...(goods && { goods: goods.total }),
    ms,
  };
  const note = trial.notes.length > 0 ? { note: trial.notes.join(' ') } : {};
  const complaint = complaintOf(tried);
  if (complaint) {
    const { cause, customer } = complaint;
    const change = (trial.isDown ? undefined : row.change) ?? complaint.change;
    return {
      ...told,
      verdict: 'failed',
      cause,
      customer,
      ...(change !== undefined && { change }),
      repeat: run.repeat(name),
      ...note,
    };
  }
  if (needsCount && !run.observer) {
    const cause = 'The answers are correct, but only --observe can count what was handed out.';
    return { ...told, verdict: 'not tried', cause, ...note };
  }
  return { ...told, verdict: 'passed', ...note };
}

/** Returns the complaint that a customer suffers from most. */
function complaintOf(tried: Tried | undefined): Complaint | undefined {
  const { trial, goods } = tried ?? {};
  if (trial?.isDown) return trial.complaints.at(-1);
  return goods?.isTooMany ? goods.complaint : (trial?.complaints[0] ?? goods?.complaint);
}

async function inParallel<Item>(
  items: readonly Item[],
  atOnce: number,
  each: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await each(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
