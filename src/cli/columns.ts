import stringWidth from 'string-width';
import { printable } from '../report/text.js';

/** A part of a line. */
export interface Cell {
  /** What may stand there is not trusted: it is escaped here. */
  readonly text: string;
  /** How many columns it takes where there is room. */
  readonly width: number;
  /** The least important cells are left out where there is no room: the lowest number goes first. */
  readonly rank: number;
  /** Colours it, once it has its width. */
  readonly paint?: ((text: string) => string) | undefined;
}

/** Cells in one line of so many columns, two between them. */
export function toLine(cells: readonly Cell[], columns: number): string {
  let kept = cells;
  const total = () => kept.reduce((sum, { width }) => sum + width + 2, -2);
  while (total() > columns && kept.length > 1) {
    const least = Math.min(...kept.map(({ rank }) => rank));
    kept = kept.filter(({ rank }) => rank !== least);
  }
  const parts = kept.map(({ text, width, paint = (same) => same }, index) => {
    const isLast = index === kept.length - 1;
    const room = isLast ? Math.max(1, columns - (total() - width)) : width;
    const shown = cut(printable(text, 1000), room);
    const cell = isLast ? shown : shown + ' '.repeat(Math.max(0, width - stringWidth(shown)));
    // Colours around nothing would keep the spaces before it.
    return shown === '' ? cell : paint(cell);
  });
  return parts.join('  ').trimEnd();
}

/** As much of a text as fits, by what a terminal shows: some characters take two columns. */
export function cut(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  let taken = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(taken + segment) > columns - 1) break;
    taken += segment;
  }
  return `${taken}…`;
}
