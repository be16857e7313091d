import { Console } from 'node:console';
import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';
import type { ExitCode } from './failure.js';
import type { Streams } from './printer.js';

/** The process that a command runs in. Tests pass their own. */
export interface Host extends Streams {
  /** The arguments after the name of the command line tool. */
  readonly args: readonly string[];
  readonly stdin: {
    readonly isTTY?: boolean;
    /** Reads all of stdin. Absent from the real process, whose stdin only few commands read: see `readBytes()`. */
    read?(): Uint8Array;
    /** Asks a question in the terminal, and resolves with the typed line. */
    ask(question: string): Promise<string>;
  };
  /** Resolves when a signal asks the command to end. */
  interrupted(): Promise<void>;
  /**
   * Lets the code of a shop run in this process. Its output goes to `output`, also that of `console` and of
   * `process.stdout`, and an uncaught error goes to `onCrash`.
   *
   * @returns A function for the command to call when it is done with the shop.
   */
  admit(output: Writable, onCrash: (error: unknown) => ExitCode): () => void;
}

/** How long the shop, for example with an open pool, may keep the process alive after the command has ended. */
const EXIT_MS = 1_000;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Writes to the real stdout, also while `admit()` turns away the output of a shop. */
const writeOut = process.stdout.write.bind(process.stdout);

/** The host that is the real process. */
export const processHost: Host = {
  args: process.argv.slice(2),
  env: process.env,
  stdout: {
    write: (text) => writeOut(text),
    isTTY: process.stdout.isTTY,
    get columns() {
      return process.stdout.columns;
    },
  },
  stderr: process.stderr,
  stdin: {
    // A getter, because process.stdin throws if stdin is closed, even if nothing reads it.
    get isTTY() {
      return process.stdin.isTTY;
    },
    async ask(question) {
      const terminal = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await terminal.question(question);
      } finally {
        terminal.close();
      }
    },
  },
  interrupted: () =>
    new Promise((resolve) => {
      const onSignal = () => {
        // The next signal, of either kind, ends the process.
        for (const signal of SIGNALS) process.off(signal, onSignal);
        resolve();
      };
      for (const signal of SIGNALS) process.on(signal, onSignal);
    }),
  admit(output, onCrash) {
    // Both stay so: the shop may log until the process ends.
    globalThis.console = new Console(output);
    process.stdout.write = output.write.bind(output);
    process.once('uncaughtException', (error) => process.exit(onCrash(error)));
    // The reader of a pipe may be slow, and exit() would drop what it has not read yet.
    const exitSoon = () => void setTimeout(() => process.exit(), EXIT_MS).unref();
    return () => void writeOut('', () => process.stderr.write('', exitSoon));
  },
};
