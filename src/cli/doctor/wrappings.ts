import { isJsonObject } from '../../schemas/json.js';
import { type Candidate, step } from './cause.js';
import { toBytes } from './charsets.js';
import { COMPACT, writeTree } from './json-styles.js';
import { readTree } from './json-tree.js';

/** What stands inside of a body that was put into something: an envelope, or the text of a value of some language. */
export function* contentsOf(text: string): Generator<Candidate<Uint8Array>> {
  const printed = (language: string) =>
    step(
      'printed',
      'parser',
      `The body is a value as ${language} prints it, and no JSON: it was parsed, and not written again.`,
    );
  const [, quoted] = /^b(['"])([\s\S]*)\1\s*$/.exec(text)?.slice(1) ?? [];
  if (quoted !== undefined)
    yield {
      value: fromPythonBytes(quoted),
      steps: [
        step(
          'printed',
          'parser',
          "The body is bytes as Python's str() prints them: decode them instead.",
        ),
      ],
    };
  if (/^\{\s*(?:'|"[^"]*"\s*=>|:?\w+:? )/.test(text) || /=>/.test(text)) {
    const python = fromPython(text);
    if (python !== undefined) yield { value: toBytes(python), steps: [printed('Python')] };
    const ruby = text.replace(OF_RUBY, (token) =>
      token.startsWith('"') ? token : token === 'nil' ? 'null' : ':',
    );
    if (ruby !== text)
      yield { value: toBytes(ruby.replaceAll('": ', '":')), steps: [printed('Ruby')] };
    if (ruby !== text) yield { value: toBytes(ruby), steps: [printed('Ruby')] };
  }
  const json = parse(text);
  if (!isJsonObject(json)) return;
  const { type, data } = json;
  if (type === 'Buffer' && Array.isArray(data))
    yield {
      value: Uint8Array.from(data.map(Number)),
      steps: [
        step(
          'wrapped',
          'parser',
          'The body is a Buffer that was written as JSON: its bytes are listed in "data".',
        ),
      ],
    };
  yield* members(json, text);
}

const OF_RUBY = /"(?:[^"\\]|\\.)*"|\bnil\b|\s*=>\s*/g;

function* members(
  json: Readonly<Record<string, unknown>>,
  text: string,
): Generator<Candidate<Uint8Array>> {
  const names = Object.keys(json);
  const [only] = names;
  // As a parser of forms makes of JSON: the text up to the first "=" is the name.
  if (names.length === 1 && only !== undefined && /^\s*\{/.test(only)) {
    const value = json[only];
    const joined = value === '' || typeof value !== 'string' ? only : `${only}=${value}`;
    const steps = [
      step('form_decoded', 'parser', 'The JSON was parsed as a form, and stands in a name of it.'),
    ];
    for (const made of [joined, joined.replaceAll(' ', '+')]) yield { value: toBytes(made), steps };
  }
  const tree = readTree(text);
  for (const name of names.slice(0, 50)) {
    const value = json[name];
    const steps = [
      step(
        'wrapped',
        'parser',
        `The body was put into something: what was signed is its ${JSON.stringify(name)}.`,
      ),
    ];
    if (typeof value === 'string' && value.length > 1) {
      yield { value: toBytes(value), steps };
      if (json.isBase64Encoded === true) yield { value: Buffer.from(value, 'base64'), steps };
    }
    if (typeof value !== 'object' || value === null || tree?.kind !== 'object') continue;
    const [, member] = tree.members.find(([key]) => key === name) ?? [];
    const style = {
      layout: COMPACT,
      escapes: { slash: false, beyondAscii: 'raw', set: 'none' },
    } as const;
    if (member !== undefined) yield { value: toBytes(writeTree(member, style)), steps };
  }
}

const OF_PYTHON = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b(?:None|True|False)\b/g;
const WORDS: Readonly<Record<string, string>> = { None: 'null', True: 'true', False: 'false' };

/** What `str()` of a dict is, as JSON with its white space. */
function fromPython(text: string): string | undefined {
  const made = text.replace(OF_PYTHON, (token) => {
    const quote = token[0];
    if (quote !== "'" && quote !== '"') return WORDS[token] ?? token;
    const inner = token
      .slice(1, -1)
      .replace(/\\x([0-9a-f]{2})/g, '\\u00$1')
      .replace(/\\'/g, "'")
      .replace(/(\\.)|"/g, (_, escaped) => escaped ?? '\\"');
    return `"${inner}"`;
  });
  return made === text || parse(made) === undefined ? undefined : made;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

function fromPythonBytes(text: string): Uint8Array {
  const latin = text.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex, character) =>
    hex === undefined
      ? (ESCAPES[character] ?? character)
      : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(latin, 'latin1');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
