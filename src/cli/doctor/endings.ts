import { type Candidate, type CauseCode, step } from './cause.js';

/** The same body before something changed its line ends, or what stands around it. One character is one byte. */
export function* earlierEndings(text: string): Generator<Candidate<string>> {
  const one = (value: string, code: CauseCode, message: string): readonly Candidate<string>[] =>
    value === text ? [] : [{ value, steps: [step(code, 'transport', message)] }];
  const lost = (end: string) => `The body was sent with ${end} at its end, and has lost it.`;
  yield* one(`${text}\n`, 'line_end_lost', lost('a line end'));
  yield* one(`${text}\r\n`, 'line_end_lost', lost('the line end \\r\\n'));
  yield* one(
    text.replace(/\r?\n$/, ''),
    'line_end_gained',
    'A line end was put at the end of the body, as an editor or echo does.',
  );
  yield* one(
    text.replace(/\r\n/g, '\n'),
    'line_ends_converted',
    'The line ends of the body were \\n and are \\r\\n now.',
  );
  yield* one(
    text.replace(/\r?\n/g, '\r\n'),
    'line_ends_converted',
    'The line ends of the body were \\r\\n and are \\n now.',
  );
  yield* one(
    text.replace(/\r\n/g, '\n').replace(/\n$/, ''),
    'line_ends_converted',
    'The line ends of the body were \\n and are \\r\\n now, with one more at its end.',
  );
  yield* one(
    text.replace(/\r/g, '\n'),
    'line_ends_converted',
    'The line ends of the body were \\n and are \\r now.',
  );
  const around = 'White space was put before or after the body.';
  yield* one(text.trimEnd(), 'white_space_gained', around);
  yield* one(text.trimStart(), 'white_space_gained', around);
  yield* one(text.trim(), 'white_space_gained', around);
  yield* one(
    trimLines(text),
    'white_space_gained',
    'Lines of the body got white space at their ends.',
  );
  yield* one(trimZeros(text), 'bytes_gained', 'Zero bytes were put after the body.');
  yield* one(`${text}\0`, 'cut_short', lost('a zero byte'));
  yield* one(
    ` ${text}`,
    'white_space_gained',
    'The body was sent with a space before it, and has lost it.',
  );
  yield* one(
    text.slice(0, endOfJson(text)),
    'bytes_gained',
    'Something stands after the JSON of the body that was not sent with it.',
  );
  yield* one(
    text.replace(/^(["'])([\s\S]*)\1$/, '$2'),
    'bytes_gained',
    'Quotes were put around the body.',
  );
  for (const end of ['}', ']}', '"}'])
    yield* one(
      text + end,
      'cut_short',
      `The body was cut short: ${JSON.stringify(end)} is missing at its end.`,
    );
}

// Without a pattern, which would take long for many blanks in a row.
function trimLines(text: string): string {
  return /[ \t]\n/.test(text)
    ? text
        .split('\n')
        .map((line) => line.trimEnd())
        .join('\n')
    : text;
}

function trimZeros(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0) end -= 1;
  return text.slice(0, end);
}

/** Where the first value of JSON ends. */
export function endOfJson(text: string): number {
  let depth = 0;
  for (const token of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (/^[{[]/.test(token[0])) depth += 1;
    else if (/^[}\]]/.test(token[0])) {
      depth -= 1;
      if (depth === 0) return token.index + 1;
    } else if (depth === 0) break;
  }
  return text.length;
}
