/** The position of a string, a number or a member's name in a JSON text. */
export interface JsonValue<Mark> {
  readonly kind: 'string' | 'number' | 'name';
  readonly start: number;
  readonly end: number;
  /** The path to the value, or to the object that a name is in. `undefined` is the root. */
  readonly path: Path<Mark> | undefined;
}

/** A step to a member or element, linked to the step above it, so that deep nesting does not cost more. */
export interface Path<Mark> {
  readonly above: Path<Mark> | undefined;
  readonly step: string;
  /** The innermost step that is a member's name. */
  readonly member: Path<Mark> | undefined;
  /** The mark of the outermost step that has one. */
  readonly marked: { readonly at: Path<Mark>; readonly mark: Mark } | undefined;
}

interface Open<Mark> {
  readonly isArray: boolean;
  readonly path: Path<Mark> | undefined;
  index: number;
  /** The name of the member whose value comes next. */
  name: string | undefined;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\],]/g;

/**
 * Yields the values in a JSON text, including members with duplicate names. The text has to be valid JSON.
 *
 * @param markOf - Returns the mark of a step. All steps below inherit it.
 */
export function* jsonValues<Mark>(
  text: string,
  markOf: (step: string) => Mark | undefined,
): Generator<JsonValue<Mark>> {
  const opened: Open<Mark>[] = [];
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const inside = opened.at(-1);
    const isText = token.startsWith('"');
    if (token === '}' || token === ']') {
      opened.pop();
    } else if (token === ',') {
      if (inside) Object.assign(inside, { index: inside.index + 1, name: undefined });
    } else if (token === '{' || token === '[') {
      const path = inside && below(inside, markOf);
      opened.push({ isArray: token === '[', path, index: 0, name: undefined });
    } else {
      const end = start + token.length;
      if (isText && inside?.isArray === false && inside.name === undefined) {
        inside.name = JSON.parse(token);
        yield { kind: 'name', start, end, path: inside.path };
      } else {
        const path = inside && below(inside, markOf);
        yield { kind: isText ? 'string' : 'number', start, end, path };
      }
    }
  }
}

function below<Mark>(
  { isArray, path: above, index, name = '' }: Open<Mark>,
  markOf: (step: string) => Mark | undefined,
): Path<Mark> {
  const step = isArray ? String(index) : name;
  const path: { -readonly [Key in keyof Path<Mark>]: Path<Mark>[Key] } = {
    above,
    step,
    member: above?.member,
    marked: above?.marked,
  };
  if (!isArray) path.member = path;
  const mark = path.marked ? undefined : markOf(step);
  if (mark !== undefined) path.marked = { at: path, mark };
  return path;
}

/**
 * Returns a path as a JSON pointer (RFC 6901).
 *
 * @param nameOf - Returns the name that the pointer has for a step.
 */
export function toPointer(
  path: Path<unknown> | undefined,
  nameOf: (step: string) => string,
): string {
  const steps: string[] = [];
  for (let at = path; at; at = at.above) steps.push(nameOf(at.step));
  return steps
    .reverse()
    .map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
