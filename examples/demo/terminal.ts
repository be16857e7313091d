import { styleText } from 'node:util';

/** Fits a delivery's text into a number of columns, without the control characters of terminals. */
export function cell(text: string, columns: number): string {
  return cut(text.replace(/[^\x20-\x7e]/g, '?'), columns).padEnd(columns);
}

export function cut(text: string, columns: number): string {
  return text.length > columns ? `${text.slice(0, Math.max(0, columns - 1))}…` : text;
}

/** Returns the columns of the terminal; infinity for a file or a pipe. Some terminals report 0. */
export function width(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

export function paint(style: Parameters<typeof styleText>[0], text: string): string {
  // hasColors() respects NO_COLOR.
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(style, text) : text;
}
