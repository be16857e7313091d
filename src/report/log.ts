import { explained, type Page } from '../explained.js';
import { harmless } from './harmless.js';
import { printable } from './text.js';

/**
 * One escaped line on stderr: for what must not go unnoticed where nobody has set a hook.
 *
 * @param page - Where docs/ explains it; `undefined` where it is no trouble, or the line names it by itself.
 * @param level - `error` where an order may be at stake. Platforms show the two apart.
 */
export function writeLine(
  line: string,
  page: Page | undefined,
  level: 'error' | 'warn' = 'error',
): void {
  // A console may be anybody's: whatever it does, a delivery is not lost over it.
  const text = printable(line, 4000);
  harmless(() => console[level]?.(`storefront-webhooks: ${page ? explained(text, page) : text}`));
}

/** Somebody else's text in quotes, which it cannot end: so that none looks like another line. */
export function quoted(text: string, maxLength = 80): string {
  const escaped = text.slice(0, maxLength + 1).replace(/["\\]/g, '\\$&');
  return `"${printable(escaped, maxLength)}"`;
}
