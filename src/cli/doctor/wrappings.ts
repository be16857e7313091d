import { isJsonObject } from '../../schemas/json.js';
import { type Candidate, step } from './cause.js';
import { toBytes } from './charsets.js';
import { COMPACT, type Style, writeTree } from './json-styles.js';
import { type Members, type Node, readTree } from './json-tree.js';
import { parseJson, withPluses } from './undone.js';

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
    const script = fromPython(
      text.replace(OF_SCRIPT, (token, name) => (name === undefined ? token : `"${name}":`)),
    );
    if (script !== undefined && script !== python)
      yield { value: toBytes(script), steps: [printed('console.log')] };
    const ruby = text.replace(OF_RUBY, (token) =>
      token.startsWith('"') ? token : token === 'nil' ? 'null' : ':',
    );
    if (ruby !== text)
      yield { value: toBytes(ruby.replaceAll('": ', '":')), steps: [printed('Ruby')] };
    if (ruby !== text) yield { value: toBytes(ruby), steps: [printed('Ruby')] };
  }
  yield* listedBytes(text);
  const root = readTree(text);
  if (root === undefined) return;
  if (root.kind === 'object') yield* namesOfForm(root.members);
  yield* partsOf(root);
}

const OF_RUBY = /"(?:[^"\\]|\\.)*"|\bnil\b|\s*=>\s*/g;

/** The numbers of bytes, as String() or JSON.stringify writes a Uint8Array or a Buffer. */
function* listedBytes(text: string): Generator<Candidate<Uint8Array>> {
  if (!/^\s*(?:\d{1,3},|\[\s*\d{1,3}\s*,|\{\s*"0"\s*:|\{\s*"type"\s*:\s*"Buffer")/.test(text))
    return;
  const json = parseJson(/^\s*\d/.test(text) ? `[${text}]` : text);
  const listed = isJsonObject(json) && json.type === 'Buffer' ? json.data : json;
  const bytes: unknown[] = Object.values(
    typeof listed === 'object' && listed !== null ? listed : {},
  );
  if (!bytes.every((byte) => typeof byte === 'number' && byte <= 255)) return;
  yield {
    value: Uint8Array.from(bytes.map(Number)),
    steps: [
      step(
        'printed',
        'parser',
        'The body is a list of its bytes, as JSON or String() makes of a Buffer.',
      ),
    ],
  };
}

/** As a parser of forms makes of JSON: the text up to the first "=" is a name. */
function* namesOfForm(members: Members): Generator<Candidate<Uint8Array>> {
  if (!/^\s*\{/.test(members[0]?.[0] ?? '')) return;
  const joined = members
    .map(([name, value]) =>
      value.kind === 'string' && value.text !== '' ? `${name}=${value.text}` : name,
    )
    .join('&');
  const steps = [
    step('form_decoded', 'parser', 'The JSON was parsed as a form, and stands in a name of it.'),
  ];
  for (const made of withPluses(joined)) yield { value: toBytes(made), steps };
}

/** The most values of an envelope that are looked into. */
const MAX_PARTS = 50;

/** What stands in an envelope: JSON as text or as a value, or anything in Base64. */
function* partsOf(root: Node): Generator<Candidate<Uint8Array>> {
  let left = MAX_PARTS;
  for (const [node, path] of pathsOf(root, '')) {
    const steps = [
      step('wrapped', 'parser', `The body was put into something: what was signed is its ${path}.`),
    ];
    if (node.kind === 'string') {
      if (/^\s*[[{"]/.test(node.text)) yield { value: toBytes(node.text), steps };
      if (!/^(?:eyJ|ewo|eyA|W[3y]|H4sI)[\w+/-]+={0,2}$/.test(node.text)) continue;
      yield { value: Buffer.from(node.text, 'base64'), steps };
    } else yield { value: toBytes(writeTree(node, PLAIN)), steps };
    left -= 1;
    if (left === 0) return;
  }
}

const PLAIN: Style = {
  layout: COMPACT,
  escapes: { slash: false, beyondAscii: 'raw', set: 'none' },
};

/** Texts, objects and lists within a value, with the pointer to each: those that are not deep come first. */
function* pathsOf(root: Node, path: string): Generator<readonly [Node, path: string]> {
  const within: readonly (readonly [string | number, Node])[] =
    root.kind === 'object'
      ? root.members
      : root.kind === 'array'
        ? root.items.map((item, index) => [index, item] as const)
        : [];
  for (const [name, node] of within)
    if (node.kind === 'string' || node.kind === 'object' || node.kind === 'array')
      yield [node, `${path}/${name}`];
  for (const [name, node] of within) yield* pathsOf(node, `${path}/${name}`);
}

/** Names without quotes, outside of texts. */
const OF_SCRIPT = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|([A-Za-z_$][\w$]*):/g;

const OF_PYTHON = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\b(?:None|True|False)\b/g;
const WORDS: Readonly<Record<string, string>> = { None: 'null', True: 'true', False: 'false' };

/** What `str()` of a dict is, as JSON with its white space. */
function fromPython(text: string): string | undefined {
  const made = text.replace(OF_PYTHON, (token) => {
    const quote = token[0];
    if (quote !== "'" && quote !== '"' && quote !== '`') return WORDS[token] ?? token;
    const inner = token
      .slice(1, -1)
      .replace(/\\x([0-9a-f]{2})/g, '\\u00$1')
      .replace(/\\(['`])/g, '$1')
      .replace(/(\\.)|"/g, (_, escaped) => escaped ?? '\\"');
    return `"${inner}"`;
  });
  return made === text || parseJson(made) === undefined ? undefined : made;
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
