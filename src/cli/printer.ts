import picocolors from 'picocolors';
import { printable } from '../report/text.js';
import { cut } from './columns.js';
import { commandLines, textLines } from './lines.js';

/** Where a command writes to: what it found on stdout, and everything else on stderr. */
export interface Printer {
  /** Whether a person reads stdout: a terminal, without `--json`. Everybody else gets a line of JSON for each. */
  readonly isForPeople: boolean;
  /** How many columns a line may have: those of the terminal, of which some say 0. */
  readonly columns: number;
  /** Colours are for people: in a terminal, unless `NO_COLOR` is set. */
  readonly paint: Paint;
  /** Something that was found: lines for people, and a record for programs. */
  found(record: object, toLines: () => string | readonly string[]): void;
  /** Bytes or text as they are, such as a script or a signature. */
  write(text: string): void;
  /** What goes on, what to do next, and what went wrong; with the command to go on with. */
  note(text: string, command?: string): void;
  /** How far it is, in the last line of a terminal; `undefined` takes it away. */
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

/** Writes to the streams of a process. `isJson` is asked each time, because flags are read late. */
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
      const lines = this.isForPeople ? [toLines()].flat() : [JSON.stringify(record)];
      stdout.write(lines.map((line) => `${line}\n`).join(''));
    },
    write(text) {
      clear();
      stdout.write(text);
    },
    note(text, command) {
      clear();
      const shown = printable(text, 4000);
      // What reads a log breaks its lines by itself.
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
      // A line that is wrapped could not be taken away.
      stderr.write(cut(line, (stderr.columns || 80) - 1));
      shown = true;
    },
  };
}
