import { type Cell, toLine } from '../columns.js';
import { commandLines, textLines } from '../lines.js';
import type { Printer } from '../printer.js';
import type { Row } from './row.js';

/** What became of a row. */
export interface Result {
  readonly row: string;
  readonly title: string;
  /** `not tried` also where the answers are good, and only the goods could tell. */
  readonly verdict: 'passed' | 'failed' | 'not tried';
  /** The statuses of the answers; 0 where there was none. */
  readonly answers: readonly number[];
  /** How many goods were handed out, where they were counted. */
  readonly goods?: number;
  readonly ms: number;
  /** Why it failed, or was not tried. */
  readonly cause?: string;
  /** What a customer would have suffered. */
  readonly customer?: string;
  readonly change?: string;
  /** The command that runs it alone. */
  readonly repeat?: string;
  /** What is well, and still worth a word. */
  readonly note?: string;
}

/** A row that was not tried, and why. */
export function notTried({ name, title }: Row, cause: string): Result {
  return { row: name, title, verdict: 'not tried', answers: [], ms: 0, cause };
}

/** A result for people. */
export function resultLines(result: Result, { paint, columns }: Printer): string[] {
  const { row, title, verdict, answers, goods, ms, cause, customer, change, repeat, note } = result;
  const [mark, colour] = {
    passed: ['✓', paint.green] as const,
    failed: ['✗', paint.red] as const,
    'not tried': ['–', paint.yellow] as const,
  }[verdict];
  // The titles get what the others leave.
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

/** Such as `200 ×3, 503`. */
function summary(answers: readonly number[]): string {
  const times = new Map<number, number>();
  for (const status of answers) times.set(status, (times.get(status) ?? 0) + 1);
  return Array.from(times, ([status, count]) => {
    const name = status === 0 ? 'none' : String(status);
    return count === 1 ? name : `${name}×${count}`;
  }).join(' ');
}
