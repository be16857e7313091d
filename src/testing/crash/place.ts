import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path of this package's code, `src` or `dist`. */
const OWN = toPath(fileURLToPath(import.meta.url)).replace(/\/(testing\/crash\/)?[^/]+$/, '/');

const FRAME = /\(?((?:file:\/\/)?[^()]+?):(\d+):(\d+)\)?$/;

/** How many frames of the stack to search. Enough for the code between a handler and its effects. */
const FRAMES = 60;

/**
 * Returns the line of the program that is running, such as `src/webhooks.ts:12:9`; `undefined` if the stack
 * has only packages.
 */
export function placeInProgram(): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  for (const line of stack.split('\n').slice(1)) {
    const [, file = '', row, column] =
      FRAME.exec(
        line
          .trim()
          .replace(/^at (async )?/, '')
          .replace(/^[^(]*\(/, '('),
      ) ?? [];
    const path = toPath(file);
    if (!path.includes('/') || path.startsWith('node:')) continue;
    if (path.startsWith(OWN) || path.includes('/node_modules/')) continue;
    return `${toPath(relative(process.cwd(), path))}:${row}:${column}`;
  }
  return undefined;
}

function toPath(file: string): string {
  return file.replace(/^file:\/\/(\/(?=[A-Za-z]:))?/, '').replaceAll('\\', '/');
}
