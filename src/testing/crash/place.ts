import { relative } from 'node:path';

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
    if (!path.includes('/') || /^(node:|eval at )/.test(path)) continue;
    if (path.startsWith(own) || path.includes('/node_modules/')) continue;
    return `${toPath(relative(process.cwd(), path))}:${row}:${column}`;
  }
  return undefined;
}

/** Parses `at name (file:row:column)` or `at file:row:column`. A file may have spaces and parentheses in its path. */
function parseFrame(line: string) {
  const text = line.trim().replace(/^at (async )?/, '');
  const place = text.endsWith(')') ? text.slice(text.indexOf(' (') + 2, -1) : text;
  const [, file = '', row, column] = /^(.+):(\d+):(\d+)$/.exec(place) ?? [];
  return { path: toPath(file), row, column };
}

function toPath(file: string): string {
  const path = file.startsWith('file://') ? decoded(file) : file;
  return path.replace(/^file:\/\/(\/(?=[A-Za-z]:))?/, '').replaceAll('\\', '/');
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    // A source map may have a path with a `%` of its own.
    return url;
  }
}
