import { styleText } from 'node:util';

/** Text of a delivery, without what a terminal would obey, in so many columns. */
export function cell(text: string, columns: number): string {
  return cut(text.replace(/[^\x20-\x7e]/g, '?'), columns).padEnd(columns);
}

export function cut(text: string, columns: number): string {
  return text.length > columns ? `${text.slice(0, Math.max(0, columns - 1))}…` : text;
}

/** The columns of the terminal, some of which say 0; a file or a pipe has no end of them. */
export function width(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

export function paint(style: Parameters<typeof styleText>[0], text: string): string {
  // hasColors() knows NO_COLOR.
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(style, text) : text;
}
