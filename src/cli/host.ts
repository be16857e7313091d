import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import type { ExitCode } from './failure.js';
import type { Streams } from './printer.js';

/** What a command takes from the process that it runs in. A test gives its own. */
export interface Host extends Streams {
  /** The words behind the name of the command line tool. */
  readonly args: readonly string[];
  readonly stdin: {
    readonly isTTY?: boolean;
    /** Reads all of it. */
    read(): Uint8Array;
    /** Asks a question in the terminal, and resolves with the line that is typed. */
    ask(question: string): Promise<string>;
  };
  /** Resolves when the command is asked to end. */
  interrupted(): Promise<void>;
  /**
   * Lets the code of a shop run in this process: what it logs goes to `console`, and `onCrash` is called with an
   * error that nothing catches.
   *
   * @returns What the command calls when it has done with the shop.
   */
  admit(console: Console, onCrash: (error: unknown) => ExitCode): () => void;
}

/** How long a shop may keep the process after the command has ended, such as by an open pool. */
const EXIT_MS = 1_000;

/** The process itself. */
export const processHost: Host = {
  args: process.argv.slice(2),
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: {
    // Asked late: a process whose stdin is closed throws here, also where nothing is read.
    get isTTY() {
      return process.stdin.isTTY;
    },
    read: () => readFileSync(0),
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
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
    }),
  admit(console, onCrash) {
    globalThis.console = console;
    process.once('uncaughtException', (error) => process.exit(onCrash(error)));
    return () => void setTimeout(() => process.exit(), EXIT_MS).unref();
  },
};
