import { WebhookError } from './errors.js';

// Controls, line ends, invisible and bidirectional marks, lone surrogates: what forges or hides a log line.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Untrusted text made safe for one line of a log or an answer: escaped and shortened. */
export function printable(text: string, maxLength = 200): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return short.replace(
    UNPRINTABLE,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** One line about anything that was thrown, even a frozen object whose `message` throws. */
export function describeError(error: unknown): string {
  try {
    const cause =
      error instanceof WebhookError && error.cause ? ` (${describeError(error.cause)})` : '';
    const text = error instanceof Error ? `${error.name}: ${error.message}${cause}` : String(error);
    return printable(text, 2000);
  } catch {
    return 'something that cannot be shown was thrown';
  }
}
