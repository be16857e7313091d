import { relative } from 'node:path';

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
  // The first frame is in this file.
  const [here, ...frames] = stack.split('\n').slice(1).map(parseFrame);
  const own = here?.path.replace(/\/(testing\/crash\/)?[^/]+$/, '/') ?? '';
  for (const { path, row, column } of frames) {
    if (!path.includes('/') || path.startsWith('node:')) continue;
    if (path.startsWith(own) || path.includes('/node_modules/')) continue;
    return `${toPath(relative(process.cwd(), path))}:${row}:${column}`;
  }
  return undefined;
}

function parseFrame(line: string) {
  const text = line
    .trim()
    .replace(/^at (async )?/, '')
    .replace(/^[^(]*\(/, '(');
  const [, file = '', row, column] = FRAME.exec(text) ?? [];
  return { path: toPath(file), row, column };
}

function toPath(file: string): string {
  return file.replace(/^file:\/\/(\/(?=[A-Za-z]:))?/, '').replaceAll('\\', '/');
}
