import type { Page } from '../errors/docs-link.js';
import { writeLine } from '../errors/log.js';
import { hasMethods } from './platform.js';

/** The warnings that this process has written. */
const told = new Set<string>();

/** Writes a warning on stderr, once per process. */
export function warnOnce(text: string, page: Page): void {
  if (told.has(text)) return;
  told.add(text);
  writeLine(text, page, 'warn');
}

/**
 * Warns if an emitter has no listener for its `error` event: the end of a connection then ends the process.
 *
 * @param what - The emitter, as the subject of a sentence.
 * @param name - The emitter in the line that adds a listener.
 */
export function warnWithoutListener(emitter: unknown, what: string, name: string): void {
  const source = emitter as { listenerCount(event: string): number };
  if (!hasMethods(source, 'listenerCount') || source.listenerCount('error') > 0) return;
  warnOnce(
    `${what} has no listener for its error event, so this process ends as soon as the server ends one of its ` +
      `connections. Add one: ${name}.on('error', (error) => log(error.message || error)).`,
    'operate.md#no-error-listener',
  );
}
