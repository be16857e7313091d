import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { UsageError } from 'storefront-webhooks';
import type { Saved } from '../fixture-file.js';
import { toVisibleJson } from '../printer.js';

/** How a module of the seller exports a receiver. */
export interface ReceiverExport {
  readonly module: string;
  readonly name: string;
  /** Whether the export is a function that creates a receiver from a secret. */
  readonly isFunction: boolean;
  /** Whether tests use the store that the module opens. */
  readonly hasStore: boolean;
}

const EXPORT =
  /^export\s+(?:(const|let|var)|(?:async\s+)?function)\s+(\w*receiver\w*)\s*(?::[^=]*)?(=\s*(?:async\s*)?(?:\(|function|\w+\s*=>))?/gim;

/** `export { … }`, and `export const { … } = …`. */
const BRACED = /^export\s+(?:const\s+|let\s+|var\s+)?\{([^}]*)\}/gim;

/**
 * Finds the receiver among the exports of a module, by its source.
 *
 * @throws {UsageError} If the module does not exist, or exports no receiver.
 */
export function findReceiver(module: string): ReceiverExport {
  const source = read(module);
  const hasStore = /\bstore\s*[:,}]/.test(source);
  const declared = Array.from(source.matchAll(EXPORT), ([, variable, name = '', made]) => ({
    name,
    isFunction: variable === undefined || made !== undefined,
  }));
  const names = Array.from(source.matchAll(BRACED), ([, all = '']) => all.split(',')).flat();
  const listed = names.flatMap((one) => /(\w*receiver\w*)\s*$/i.exec(one)?.[1] ?? []);
  const isFunction = (name: string) => new RegExp(`function\\s+${name}\\b`).test(source);
  const all = [...declared, ...listed.map((name) => ({ name, isFunction: isFunction(name) }))];
  // Not RECEIVER_PATH, if there is another.
  const found = all.find(({ name }) => /receiver$/i.test(name)) ?? all[0];
  if (found) return { module, ...found, hasStore: hasStore && !found.isFunction };
  if (/^export\s+default\s/m.test(source)) {
    return { module, name: 'default', isFunction: false, hasStore };
  }
  throw new UsageError(
    'receiver_invalid',
    `${module} exports no receiver: write export const receiver = createReceiver(…), or export function makeReceiver(secret).`,
  );
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

/** Returns a vitest test that sends a saved delivery to the seller's own receiver. */
export function toTestText(
  fixture: string,
  file: string,
  { event, expect }: Saved,
  from: ReceiverExport,
): string {
  const path = relative(dirname(file), resolve(from.module)).replaceAll('\\', '/');
  const module = (path.startsWith('.') ? path : `./${path}`).replace(/\.(m|c)?ts$/, '.$1js');
  const { status = 200, outcome } = expect ?? {};
  const imported = from.name === 'default' ? 'default: receiver' : from.name;
  const receiver = from.name === 'default' ? 'receiver' : from.name;
  const title = `${event} of ${fixture} is ${outcome ?? `answered ${status}`}`;
  return `import { fileURLToPath } from 'node:url';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { expect, test } from 'vitest';

const secret = 'a secret for tests';
const file = fileURLToPath(new URL(${text(`./${fixture}`)}, import.meta.url));

test(${text(title)}, async () => {
  process.env.WEBHOOK_SECRET ??= secret;
  const { ${imported} } = await import(${text(module)});
  const answer = await replay(${receiver}${from.isFunction ? '(secret)' : ''}, loadFixture(file));
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
