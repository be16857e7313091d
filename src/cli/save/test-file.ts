import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { UsageError } from 'storefront-webhooks';
import { toVisibleJson } from '../printer.js';
import type { Addressed } from './log.js';

/** How a module of the seller exports a receiver. */
export interface ReceiverExport {
  readonly module: string;
  readonly name: string;
  /** Whether the export is a function that creates a receiver; `undefined` if the source does not show it. */
  readonly isFunction: boolean | undefined;
  /** Whether tests use the store that the module opens. */
  readonly hasStore: boolean;
}

const EXPORT = /^export\s+(?:const|let|var|(?:async\s+)?function)\s+(\w*receiver\w*)/gim;
/** `export { … }`, and `export const { … } = …`. */
const BRACED = /^export\s+(?:const\s+|let\s+|var\s+)?\{([^}]*)\}/gim;
const DEFAULT = /^export\s+default\s+([\s\S]+)/m;

const FUNCTION = /^(async\s*)?(function\b|\w+\s*=>|\([^()]*\)\s*(:[^=;]*)?=>)/;
/** A call of `createReceiver`, or an awaited one of the seller's own `makeReceiver`, which may return a promise. */
const CALL = /^(await\s+(?:\w+\.)?\w*|(?:\w+\.)?create)receiver\s*[(<]/i;
/** Returns a new receiver. */
const MAKES = /(?:\breturn|=>)\s*(?:await\s+)?(?:\w+\.)?createReceiver\s*[(<]/;
/** Returns a variable with a new receiver, or what its `on…()` returns: no other member is a receiver. */
const KEEPS =
  /\b(?:const|let|var)\s+(\w+)\b[^=\n]{0,200}=\s*(?:await\s+)?(?:\w+\.)?createReceiver\s*[(<][\s\S]*\breturn\s+\1\b(?!\s*\.(?!on))/;
/** The end of a statement: the next line is not indented, and closes nothing. */
const NEXT = /\n(?![\s})\]])/;
/** The beginning of a value that is no receiver, such as a path or options. */
const LITERAL = /^['"`\d{[]/;

/**
 * Finds the receiver among the exports of a module, by its source.
 *
 * @throws {UsageError} If the module does not exist, or exports no receiver.
 */
export function findReceiver(module: string): ReceiverExport {
  const source = read(module);
  const declared = Array.from(source.matchAll(EXPORT), ([, name = '']) => name);
  const names = Array.from(source.matchAll(BRACED), ([, all = '']) => all.split(',')).flat();
  const listed = names.flatMap((one) => /(\w*receiver\w*)\s*$/i.exec(one)?.[1] ?? []);
  const byDefault = DEFAULT.exec(source)?.[1];
  const readValue = (one: string) => {
    const value = one === 'default' ? byDefault : findValue(one, source);
    const alias = /^(\w+)\s*(;|\n|$)/.exec(value ?? '')?.[1];
    return alias === undefined ? value : findValue(alias, source);
  };
  const rankOf = (one: string) => {
    if (/receiver$/i.test(one)) return 0;
    const value = readValue(one) ?? '';
    const isFunction = returnsReceiver(value);
    const [statement = ''] = value.split(NEXT, 1);
    const isMaking = MAKES.test(statement) || KEEPS.test(statement);
    if (isFunction === false || (isFunction && isMaking)) return 1;
    return LITERAL.test(value) ? 3 : 2;
  };
  // RECEIVER_PATH only if there is no other.
  const all = [...declared, ...listed, ...(byDefault ? ['default'] : [])];
  const [name] = all.sort((a, b) => rankOf(a) - rankOf(b));
  if (name === undefined) {
    throw new UsageError(
      'receiver_invalid',
      `${module} exports no receiver: write export const receiver = createReceiver(…), or export function makeReceiver(secret).`,
    );
  }
  const isFunction = returnsReceiver(readValue(name));
  return { module, name, isFunction, hasStore: /\bstore\s*[:,}]/.test(source) && !isFunction };
}

/** Returns the source from the function or value of this name on. */
function findValue(name: string, source: string): string | undefined {
  const declared = `\\bfunction\\s+(?=${name}\\b)|\\b(?:const|let|var)\\s+${name}\\b[^;]*?=(?![=>])\\s*`;
  const found = new RegExp(declared).exec(source);
  if (!found) return undefined;
  const { 0: start, index } = found;
  return source.slice(start.startsWith('function') ? index : index + start.length);
}

function returnsReceiver(value = ''): boolean | undefined {
  return FUNCTION.test(value) || (CALL.test(value) ? false : undefined);
}

function read(module: string): string {
  try {
    return readFileSync(module, 'utf8');
  } catch {
    throw new UsageError(
      'receiver_invalid',
      `There is no file ${module}: name the file that exports your receiver with --receiver.`,
    );
  }
}

/** The path to which `replay()` sends by default. */
const REPLAY_PATH = '/webhooks';

/** Returns a vitest test that sends a saved delivery to the seller's own receiver. */
export function toTestText(
  fixture: string,
  file: string,
  { event, expect, path: sentTo = REPLAY_PATH }: Addressed,
  from: ReceiverExport,
): string {
  const path = relative(dirname(file), resolve(from.module)).replaceAll('\\', '/');
  const module = (path.startsWith('.') ? path : `./${path}`).replace(/\.(m|c)?ts$/, '.$1js');
  const { status = 200, outcome } = expect ?? {};
  const isSure = from.isFunction !== undefined;
  const ofDefault = from.isFunction ? 'makeReceiver' : 'receiver';
  const isDefault = from.name === 'default';
  const name = !isSure ? 'exported' : isDefault ? ofDefault : from.name;
  const imported = name === from.name ? name : `${from.name}: ${name}`;
  const receiver = from.isFunction ? `await ${name}(secret)` : isSure ? name : 'receiver';
  // A receiver of several shops may find the shop by the path.
  const options = sentTo === REPLAY_PATH ? '' : `, { path: ${text(sentTo)} }`;
  const title = `${event} of ${fixture} is ${outcome ?? `answered ${status}`}`;
  return `import { fileURLToPath } from 'node:url';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { expect, test } from 'vitest';

const secret = 'a secret for tests';
const file = fileURLToPath(new URL(${text(`./${fixture}`)}, import.meta.url));

test(${text(title)}, async () => {
  process.env.WEBHOOK_SECRET ??= secret;
  const { ${imported} } = await import(${text(module)});
${isSure ? '' : '  const receiver = await (exported instanceof Function ? exported(secret) : exported);\n'}  const answer = await replay(${receiver}, loadFixture(file)${options});
  // If this fails, the answer says why, or stderr does, with the line.
  expect(answer.status, answer.body).toBe(${status});
${outcome === undefined ? '' : `  expect(answer.outcome).toBe(${text(outcome)});\n`}});
`;
}

/** Returns a safe string literal: the sender may have chosen the value. */
function text(value: string): string {
  const json = toVisibleJson(value);
  return /^"[^'\\]*"$/.test(json) ? `'${json.slice(1, -1)}'` : json;
}
