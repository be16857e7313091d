import { unexplained } from './docs-link.js';
import { UsageError, type UsageErrorCode, WebhookError } from './errors.js';

// Controls, line ends, invisible and bidirectional marks, lone surrogates: they can forge or hide a log line.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Escapes and shortens untrusted text, so that it is safe in one line of a log or an answer. */
export function printable(text: string, maxLength = 200): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return short.replace(
    UNPRINTABLE,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

const MAX_FRAMES = 6;
const MAX_CAUSES = 3;

/** {@link describeError}, with the stack frames and causes, for the developer who fixes it. */
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

/** The code of an error, if the message does not contain it. */
function codeOf(error: Error, text: string): string {
  const code = 'code' in error && typeof error.code === 'string' ? printable(error.code, 40) : '';
  return code === '' || text.includes(code) ? '' : ` (${code})`;
}

/** Whether a line of a stack is in the user's program or one of its packages. */
function isFrame(line: string): boolean {
  return /^\s+at /.test(line) && !/node:internal|\/storefront-webhooks\/dist\//.test(line);
}

/**
 * Describes anything that was thrown in one line, even a frozen object whose `message` throws. Leaves out the page
 * that explains it, which the log line names at its end.
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
    return 'a value was thrown that cannot be shown';
  }
}

/** Whether the error is from this package, so that its message contains no payload and can be shown. */
export function isOurs(error: unknown): error is UsageError | WebhookError {
  return error instanceof UsageError || error instanceof WebhookError;
}

function textOf(thrown: unknown): string {
  const isObject = typeof thrown === 'object' && thrown !== null;
  // Only the names of its members: their values may be the payload.
  return isObject
    ? `an object that is not an Error: { ${Object.keys(thrown).join(', ')} }`
    : String(thrown);
}

/** Suggests the nearest name for a mistyped one, as a question; returns an empty text if no name is near. */
export function didYouMean(given: string, names: readonly string[]): string {
  const nearest = byDistance(given, names)[0];
  return nearest && nearest.far <= 3 ? `Did you mean ${JSON.stringify(nearest.name)}? ` : '';
}

/** Sorts names by their similarity to a mistyped one. */
export function nearestFirst(given: string, names: readonly string[]): string[] {
  return byDistance(given, names).map(({ name }) => name);
}

const MAX_NAMED = 5;

/** Joins the first five names. */
export function shortList(names: readonly string[]): string {
  return names.slice(0, MAX_NAMED).join(', ') + (names.length > MAX_NAMED ? ', …' : '');
}

function byDistance(given: string, names: readonly string[]) {
  return names
    .map((name) => ({
      name,
      // An abbreviation counts as equal, because its edit distance to the whole name is large.
      far: name.startsWith(given) ? 0 : distance(given, name),
    }))
    .sort((a, b) => a.far - b.far);
}

/** How a message names an unknown option. */
export interface OptionNaming {
  /** The option that contains it, with a dot at the end. */
  readonly of?: string;
  /** Returns advice on it. Without advice, the message suggests the nearest name. */
  readonly hint?: ((unknown: string) => string | undefined) | undefined;
  /** Default: `option_invalid`. */
  readonly code?: UsageErrorCode;
}

/** @throws {UsageError} for the first unknown option. */
export function refuseUnknownOption(
  caller: string,
  given: object,
  known: readonly string[],
  { of = '', hint, code = 'option_invalid' }: OptionNaming = {},
): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = hint?.(unknown) ?? didYouMean(unknown, known);
  const message = `${caller}: there is no option ${of}${unknown}. ${meant}The options are ${known.join(', ')}.`;
  throw new UsageError(code, message);
}

/** The Levenshtein distance of two names, ignoring case. */
function distance(given: string, name: string): number {
  const b = name.toLowerCase();
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const letter of given.slice(0, 100).toLowerCase()) {
    let left = Number.POSITIVE_INFINITY;
    row = row.map((above, at) => {
      const replaced = (row[at - 1] ?? above) + (letter === b[at - 1] ? 0 : 1);
      left = Math.min(replaced, above + 1, left + 1);
      return left;
    });
  }
  return row[b.length] ?? 0;
}
