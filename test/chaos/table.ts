/** One figure of one store. */
export interface Cell {
  /** Such as `3b`. */
  readonly bar: string;
  readonly what: string;
  /** The condition to hold; empty if the figure is only shown. */
  readonly limit: string;
  readonly figure: string;
  /** Whether the figure holds its bar. `undefined` if it has no bar. */
  readonly holds: boolean | undefined;
}

export function row(
  bar: string,
  what: string,
  limit: string,
  figure: string,
  holds?: boolean,
): Cell {
  return { bar, what, limit, figure, holds };
}

/** Returns the row of an event that must never happen. */
export function none(bar: string, what: string, count: number, of?: number): Cell {
  return row(bar, what, '0', of === undefined ? `${count}` : `${count} of ${of}`, count === 0);
}

export type Results = ReadonlyMap<string, readonly Cell[]>;

/** @param unjudged - Bars that are shown, but do not count. */
export function isMissed(results: Results, unjudged: readonly string[]): boolean {
  return [...results.values()]
    .flat()
    .some(({ bar, holds }) => holds === false && !unjudged.includes(bar));
}

/** The rows of a table: the measured quantity, its limit, and the figure of each store. */
function rowsOf(results: Results): string[][] {
  const stores = [...results.keys()];
  const cells = [...results.values()].flat();
  const bars = [...new Map(cells.map((cell) => [cell.bar, cell])).values()].sort((a, b) =>
    a.bar.localeCompare(b.bar, 'en', { numeric: true }),
  );
  return bars.map(({ bar, what, limit }) => [
    bar,
    what,
    limit,
    ...stores.map((store) => figure(results.get(store)?.find((cell) => cell.bar === bar))),
  ]);
}

function figure(cell: Cell | undefined): string {
  if (!cell) return '–';
  return cell.holds === undefined ? cell.figure : `${cell.figure} ${cell.holds ? '✓' : '✗'}`;
}

export function toText(results: Results): string {
  const rows = [['', 'what', 'bar', ...results.keys()], ...rowsOf(results)];
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: string[]) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

export function toMarkdown(results: Results): string {
  const header = ['', 'what', 'bar', ...results.keys()];
  const lines = [header, header.map(() => '---'), ...rowsOf(results)];
  return lines.map((row) => `| ${row.join(' | ')} |`).join('\n');
}
