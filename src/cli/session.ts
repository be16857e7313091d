import type { ExitCode } from './failure.js';
import type { Host } from './host.js';
import type { Printer } from './printer.js';

/** The process, the printer and the exit code that each command works with. */
export interface Session {
  readonly host: Host;
  readonly printer: Printer;
  /** Sets the exit code. Default: 0. */
  readonly end: (code: ExitCode) => void;
}
