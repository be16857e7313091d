import stringWidth from 'string-width';
import { printable } from '../errors/text.js';

/** A part of a line. */
export interface Cell {
  /** Untrusted text: `toLine` escapes it. */
  readonly text: string;
  /** How many columns the cell takes if there is room. */
  readonly width: number;
  /** How important the cell is. If there is no room, the cells with the lowest rank are left out first. */
  readonly rank: number;
  /** Colours the text after it has been padded to its width. */
  readonly paint?: ((text: string) => string) | undefined;
}

/** Returns the cells as one line of at most `columns` columns, two spaces between them. */
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
    // Colour codes around an empty text would keep trimEnd from removing the spaces before it.
    return shown === '' ? cell : paint(cell);
  });
  return parts.join('  ').trimEnd();
}

/** Cuts a text to the columns that it takes in a terminal, in which some characters take two. */
export function cut(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  let taken = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(taken + segment) > columns - 1) break;
    taken += segment;
  }
  return `${taken}…`;
}
