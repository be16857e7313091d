// Of this process only, so that no text that is read can hold it.
const MARK = `number ${crypto.randomUUID()} `;

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/**
 * Parses JSON so that {@link stringifyExact} gives each number as it was written, also one that JavaScript
 * cannot hold or would write in another way: `9007199254740993`, `1.10`. Until then, those are strings.
 */
export function parseExact(text: string): unknown {
  // First as it is, because marks would hide a number that JSON does not allow.
  JSON.parse(text);
  return JSON.parse(
    text.replace(STRING_OR_NUMBER, (token) =>
      token.startsWith('"') || JSON.stringify(Number(token)) === token
        ? token
        : `"${MARK}${token}"`,
    ),
  );
}

export function stringifyExact(value: unknown): string {
  return JSON.stringify(value).replace(MARKED, '$1');
}
