import { CommanderError } from 'commander';
import { UsageError } from 'storefront-webhooks';
import type { Printer } from './printer.js';

/** How a command ends: 0 well, 1 where it has found something, 2 where it was used wrongly. */
export type ExitCode = 0 | 1 | 2;

/** Says what went wrong, in one line and without a stack, and gives the exit code. */
export function report(error: unknown, printer: Printer): ExitCode {
  // Commander has said it already; what was asked for, such as --help, is no failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
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
      return 'the port is in use. Give another one: --port 0 takes any that is free.';
    case 'EACCES':
      return 'this port or file is not for this user.';
    default:
      return error.message;
  }
}
