import { UsageError, WebhookError } from '../errors.js';
import { unexplained } from '../explained.js';

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

const MAX_FRAMES = 6;
const MAX_CAUSES = 3;

/** {@link describeError}, with where it was thrown and what had caused it: for who has to mend it. */
export function describeInFull(error: unknown, causes = MAX_CAUSES): string {
  const text = describeError(error);
  try {
    if (!(error instanceof Error)) return text;
    const frames = (error.stack ?? '').split('\n').filter(isFrame).slice(0, MAX_FRAMES);
    const places = frames.map((frame) => `, ${printable(frame.trim(), 300)}`).join('');
    const full = `${text.replace(/\.$/, '')}${codeOf(error, text)}${places}`;
    if (causes === 0) return full;
    const parts: unknown[] =
      error instanceof AggregateError ? error.errors.slice(0, MAX_CAUSES) : [];
    const told = [...(error.cause === undefined ? [] : [error.cause]), ...parts];
    return [full, ...told.map((one) => `caused by ${describeInFull(one, causes - 1)}`)].join('; ');
  } catch {
    return text;
  }
}

/** What tells one failure from another, where the message does not. */
function codeOf(error: Error, text: string): string {
  const code = 'code' in error && typeof error.code === 'string' ? printable(error.code, 40) : '';
  return code === '' || text.includes(code) ? '' : ` (${code})`;
}

/** A place in the user's program, or in a package of it. */
function isFrame(line: string): boolean {
  return /^\s+at /.test(line) && !/node:internal|\/storefront-webhooks\/dist\//.test(line);
}

/**
 * One line about anything that was thrown, even a frozen object whose `message` throws. Without the page
 * that explains it, which is named at the end of the line.
 */
export function describeError(error: unknown): string {
  try {
    const cause =
      error instanceof WebhookError && error.cause ? ` (${describeError(error.cause)})` : '';
    const text =
      error instanceof Error
        ? `${error.name}: ${unexplained(error.message)}${cause}`
        : textOf(error);
    return printable(text, 2000);
  } catch {
    return 'something that cannot be shown was thrown';
  }
}

/** Whether its message can be shown: it has nothing of a payload. */
export function isOurs(error: unknown): error is UsageError | WebhookError {
  return error instanceof UsageError || error instanceof WebhookError;
}

function textOf(thrown: unknown): string {
  const isObject = typeof thrown === 'object' && thrown !== null;
  // The names of its members, and not what is in them: it may be the payload.
  return isObject
    ? `an object that is no error: { ${Object.keys(thrown).join(', ')} }`
    : String(thrown);
}

/** A question about what somebody has meant who has mistyped a name; nothing where it is like none. */
export function didYouMean(given: string, names: readonly string[]): string {
  // A name that was cut short is far from the whole one.
  const distances = names.map((name) => ({
    name,
    far: name.startsWith(given) ? 0 : distance(given, name),
  }));
  const nearest = distances.reduce((one, other) => (other.far < one.far ? other : one));
  return nearest.far <= 3 ? `Did you mean ${JSON.stringify(nearest.name)}? ` : '';
}

/** Says which option there is none of; nothing where there are all. */
export function findUnknownOption(
  caller: string,
  given: object,
  known: readonly string[],
): UsageError | undefined {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  const message = `${caller}: there is no option ${unknown}. ${didYouMean(unknown, known)}There are ${known.join(', ')}.`;
  return new UsageError('option_invalid', message);
}

/** How many letters have to be added, left out or replaced (Levenshtein), in whichever case. */
function distance(given: string, name: string): number {
  const a = given.slice(0, 100).toLowerCase();
  const b = name.toLowerCase();
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
