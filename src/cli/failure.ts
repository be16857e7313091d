import { CommanderError } from 'commander';
import type { Printer } from './printer.js';

/** The exit code of a command: 0 for success, 1 if it found something, 2 for wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** Prints an error in one line, without a stack, and returns the exit code. */
export function report(error: unknown, printer: Printer): ExitCode {
  // Commander has printed the error already. A request such as --help is not a failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  // Compare the name, because importing the class would load the library, which a command may not need.
  if (error instanceof Error && error.name === 'UsageError') {
    printer.note(error.message);
    return 2;
  }
  printer.note(`storefront-webhooks: ${whyOf(error)}`);
  return 1;
}

function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed.';
  switch (Reflect.get(error, 'code')) {
    case 'EADDRINUSE':
      return 'the port is in use. Give another one: --port 0 takes any free port.';
    case 'EACCES':
      return 'this user has no permission for the port or file.';
    default:
      return error.message;
  }
}
