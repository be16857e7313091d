import { printable } from '../report/text.js';

/** Where a command writes to: what it found on stdout, and everything else on stderr. */
export interface Printer {
  /** A line for a person, or the next in a pipe. */
  data(line: string): void;
  /** What goes on, what to do next, and what went wrong. */
  note(line: string): void;
  /** Emphasised, where there are colours. */
  bold(text: string): string;
}

/** The streams of a process. */
export interface Streams {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly stderr: { write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Colours are for people: in a terminal, unless `NO_COLOR` is set. */
export function createPrinter({ stdout, stderr, env }: Streams): Printer {
  const hasColours = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  return {
    data: (line) => void stdout.write(`${line}\n`),
    note: (line) => void stderr.write(`${printable(line, 4000)}\n`),
    bold: (text) => (hasColours ? `\u001b[1m${text}\u001b[22m` : text),
  };
}
