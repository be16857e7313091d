import { harmless } from './harmless.js';
import { printable } from './text.js';

/**
 * One escaped line on stderr: for what must not go unnoticed where nobody has set a hook.
 *
 * @param level - `error` where an order may be at stake. Platforms show the two apart.
 */
export function writeLine(line: string, level: 'error' | 'warn' = 'error'): void {
  // A console may be anybody's: whatever it does, a delivery is not lost over it.
  harmless(() => console[level]?.(`storefront-webhooks: ${printable(line, 4000)}`));
}

/** Somebody else's text in quotes, which it cannot end: so that none looks like another line. */
export function quoted(text: string, maxLength = 80): string {
  const escaped = text.slice(0, maxLength + 1).replace(/["\\]/g, '\\$&');
  return `"${printable(escaped, maxLength)}"`;
}
