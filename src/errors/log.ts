import { type Page, withDocsLink } from './docs-link.js';
import { printable } from './text.js';

/** Runs a call whose failure must not reach the caller, such as telemetry or a timer. */
export function safely<Value>(call: () => Value): Value | undefined {
  try {
    const given = call();
    if (given instanceof Promise) given.catch(() => {});
    return given;
  } catch {
    return undefined;
  }
}

/** The version of this package. A test compares it with package.json. */
export const VERSION = '0.1.0';

/**
 * Writes one escaped line to stderr, for what must not go unnoticed if no hook is set.
 *
 * @param page - The page of docs/ that explains the line; `undefined` if nothing is wrong, or the line names a
 *   page.
 * @param level - `error` if an order may be at stake, `info` if nothing is wrong. Platforms show levels
 *   differently.
 */
export function writeLine(
  line: string,
  page: Page | undefined,
  level: 'error' | 'warn' | 'info' = 'error',
): void {
  // The program may have replaced the console: if it throws, the delivery must not be lost.
  const text = printable(line, 4000);
  safely(() =>
    console[shownAs(level)]?.(`storefront-webhooks: ${page ? withDocsLink(text, page) : text}`),
  );
}

/**
 * Returns the console method for a level. `info` writes to stdout, which belongs to the program, except on
 * Workers.
 */
function shownAs(level: 'error' | 'warn' | 'info') {
  if (level !== 'info') return level;
  // Not every runtime has `navigator`, and no type covers all of them.
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  return navigator?.userAgent === 'Cloudflare-Workers' ? 'info' : 'warn';
}

/** Quotes and escapes untrusted text, so that it cannot end the quotation and look like another log line. */
export function quoted(text: string, maxLength = 80): string {
  const escaped = text.slice(0, maxLength + 1).replace(/["\\]/g, '\\$&');
  return `"${printable(escaped, maxLength)}"`;
}
