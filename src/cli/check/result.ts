import { type Cell, toLine } from '../columns.js';
import { commandLines, textLines } from '../lines.js';
import type { Printer } from '../printer.js';
import type { Row } from './trial.js';

export interface Result {
  readonly row: string;
  readonly title: string;
  /** `not tried` also if the answers are good, but only a count of the goods could decide. */
  readonly verdict: 'passed' | 'failed' | 'not tried';
  /** The statuses of the answers; 0 if there was no answer. */
  readonly answers: readonly number[];
  /** How many goods were handed out, if they were counted. */
  readonly goods?: number;
  readonly ms: number;
  /** Why it failed, or was not tried. */
  readonly cause?: string;
  /** The harm to a customer. */
  readonly customer?: string;
  readonly change?: string;
  /** The command that runs this row alone. */
  readonly repeat?: string;
  /** A remark on a result that is not a failure. */
  readonly note?: string;
}

/** Returns the result of a row that was not tried, with the reason. */
export function notTried({ name, title }: Row, cause: string): Result {
  return { row: name, title, verdict: 'not tried', answers: [], ms: 0, cause };
}

/** Returns the result of a row for which the time was not enough. The command repeats the row alone. */
export function outOfTime(row: Row, repeat: string): Result {
  return notTried(row, `${TIME_WAS_UP} Run this row alone: ${repeat}`);
}

/** Whether the results prove that no row fails: none has, and the time was enough for all of them. */
export function isProof(results: readonly Result[]): boolean {
  return results.every(
    ({ verdict, cause }) => verdict !== 'failed' && !cause?.startsWith(TIME_WAS_UP),
  );
}

const TIME_WAS_UP = 'The time for all rows was up.';

/** Returns the lines for a result in a terminal. */
export function resultLines(result: Result, { paint, columns }: Printer): string[] {
  const { row, title, verdict, answers, goods, ms, cause, customer, change, repeat, note } = result;
  const [mark, colour] = {
    passed: ['✓', paint.green] as const,
    failed: ['✗', paint.red] as const,
    'not tried': ['–', paint.yellow] as const,
  }[verdict];
  // The titles get the columns that the other cells leave.
  const room = Math.min(60, Math.max(24, columns - (columns < 100 ? 47 : 57)));
  const cells: Cell[] = [
    { text: mark, width: 1, rank: 9, paint: colour },
    { text: row, width: 17, rank: 8, paint: colour },
    { text: title, width: room, rank: 5 },
    { text: summary(answers), width: 12, rank: 7 },
    { text: goods === undefined ? '' : `${goods} goods`, width: 8, rank: 6 },
    ...(columns < 100
      ? []
      : [{ text: ms === 0 ? '' : `${ms} ms`, width: 8, rank: 1, paint: paint.dim }]),
  ];
  const told = [
    ['why', cause],
    ['customer', customer],
    ['change', change],
    ['note', note],
  ].flatMap(([name, text]) =>
    text === undefined ? [] : textLines(`    ${`${name}:`.padEnd(10)}`, text, columns),
  );
  const again = repeat === undefined ? [] : commandLines('    again:    ', repeat, columns);
  return [toLine(cells, columns), ...told, ...again];
}

/** Summarizes statuses, such as `200×3 503`. */
function summary(answers: readonly number[]): string {
  const times = new Map<number, number>();
  for (const status of answers) times.set(status, (times.get(status) ?? 0) + 1);
  return Array.from(times, ([status, count]) => {
    const name = status === 0 ? 'none' : String(status);
    return count === 1 ? name : `${name}×${count}`;
  }).join(' ');
}
