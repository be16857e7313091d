import picocolors from 'picocolors';
import { printable } from '../errors/text.js';
import { cut } from './columns.js';
import { commandLines, textLines } from './lines.js';

/** Prints what a command found to stdout, and everything else to stderr. */
export interface Printer {
  /** Whether stdout is a terminal, without `--json`. If not, each finding is a line of JSON. */
  readonly isForPeople: boolean;
  /** How many columns a line may have: the width of the terminal, or 80 if it is unknown. */
  readonly columns: number;
  /** Adds colours in a terminal, unless `NO_COLOR` is set. */
  readonly paint: Paint;
  /** Prints a finding: lines in a terminal, otherwise the record as JSON. */
  found(record: object, toLines: () => string | readonly string[]): void;
  /** Prints a text as it is, such as a script or a signature. */
  write(text: string): void;
  /** Prints a note to stderr: progress, advice or an error, with the command to run next. */
  note(text: string, command?: string): void;
  /** Shows progress in the last line of a terminal; `undefined` clears it. */
  progress(line: string | undefined): void;
}

type Paint = ReturnType<typeof picocolors.createColors>;

/** A stream that a command writes to. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The streams of a process. */
export interface Streams {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

// Characters that JSON does not escape, and that a terminal or an editor obeys, hides or reorders.
const UNSEEN = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu;

/** Returns the JSON of a value, with escapes for all invisible characters in its strings. */
export function toVisibleJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSEEN, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Creates a printer for the streams of a process. `isJson` is a function because flags are parsed later. */
export function createPrinter({ stdout, stderr, env }: Streams, isJson: () => boolean): Printer {
  const hasColours = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  let shown = false;
  const clear = () => {
    if (shown) stderr.write('\r\u001b[K');
    shown = false;
  };
  return {
    get isForPeople() {
      return stdout.isTTY === true && !isJson();
    },
    get columns() {
      return stdout.columns || 80;
    },
    get paint() {
      return picocolors.createColors(hasColours && !isJson());
    },
    found(record, toLines) {
      clear();
      const lines = this.isForPeople ? [toLines()].flat() : [toVisibleJson(record)];
      stdout.write(lines.map((line) => `${line}\n`).join(''));
    },
    write(text) {
      clear();
      stdout.write(text);
    },
    note(text, command) {
      clear();
      // One line, as anyone who writes a part of the text could forge a second note.
      const shown = printable(text.replace(/[\r\n]\s*/g, ' '), 4000);
      // Outside a terminal, the reader of the log wraps lines.
      const room = stderr.isTTY === true ? stderr.columns || 80 : Number.POSITIVE_INFINITY;
      const lines =
        command === undefined
          ? textLines('', shown, room)
          : commandLines(`${shown} `, printable(command, 4000), room);
      stderr.write(lines.map((line) => `${line}\n`).join(''));
    },
    progress(line) {
      clear();
      if (line === undefined || stderr.isTTY !== true) return;
      // A wrapped line could not be cleared.
      stderr.write(cut(line, (stderr.columns || 80) - 1));
      shown = true;
    },
  };
}
