// The mark is random, so that no text that is read can hold it.
const MARK = `number ${crypto.randomUUID()} `;

// A token is never a whole string: a regular expression that consumes one in steps overflows the stack for a
// body of a few megabytes.
const TOKEN = /\\.|"|-?\d[\d.eE+-]*/g;

const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/**
 * Parses JSON so that {@link stringifyExact} writes each number as it was, including numbers that JavaScript
 * cannot hold or would write differently, such as `9007199254740993` and `1.10`. Until then, those numbers
 * are marked strings.
 */
export function parseExact(text: string): unknown {
  // Parse the original text first: a mark would hide a number that JSON does not allow.
  JSON.parse(text);
  let isInString = false;
  return JSON.parse(
    text.replace(TOKEN, (token) => {
      if (token === '"') isInString = !isInString;
      const isAsWritten = isInString || token === '"' || JSON.stringify(Number(token)) === token;
      return isAsWritten ? token : `"${MARK}${token}"`;
    }),
  );
}

export function stringifyExact(value: unknown): string {
  return JSON.stringify(value).replace(MARKED, '$1');
}
