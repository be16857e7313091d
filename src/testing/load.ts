import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type * as z from 'zod/mini';
import { UsageError } from '../errors/errors.js';
import { nameType, utf8 } from '../runtime/bytes.js';
import { ownFile } from '../runtime/own-file.js';
import { parseExact, stringifyExact } from './exact-json.js';
import {
  type Fixture,
  type VariantFile,
  variantFile,
  type WholeFile,
  wholeFile,
} from './fixture.js';
import { prefixOf } from './header-prefix.js';
import { mergePatch } from './merge-patch.js';

const SUFFIX = '.hook.json';

/**
 * Loads a saved delivery.
 *
 * @param name - The path of a `.hook.json` file, or the name of a shipped fixture: an event
 *   (`'order:paid'`), or an event and a case (`'order:paid/crypto'`). {@link shippedFixtures} lists them.
 * @throws {UsageError} `fixture_invalid`, naming the file and what is wrong with it.
 *
 * @example
 * const fixture = loadFixture('test/webhooks/order-paid/eur.hook.json');
 */
export function loadFixture(name: string): Fixture {
  return load(name.endsWith(SUFFIX) ? resolve(name) : shippedFile(name), []);
}

/**
 * Loads a fixture that is given by its name, and checks one that is given itself.
 *
 * @param needed - The function and its argument, as the beginning of a sentence.
 * @throws {UsageError} `fixture_invalid`
 */
export function readFixture(given: Fixture | string, needed: string): Fixture {
  if (typeof given === 'string') return loadFixture(given);
  if (isFixture(given)) return given;
  const type = nameType(given);
  const without = type === 'an object' ? ' without headers or body' : '';
  throw new UsageError(
    'fixture_invalid',
    `${needed} as its second argument, not ${type}${without}.`,
  );
}

function isFixture(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false;
  return 'body' in given && 'headers' in given && Array.isArray(given.headers);
}

/**
 * The names of the fixtures that ship with this package, in alphabetical order.
 *
 * @example
 * const paid = shippedFixtures().filter((name) => name.startsWith('order:paid/'));
 */
export function shippedFixtures(): string[] {
  const folder = shippedFolder();
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: event }) =>
      readdirSync(join(folder, event))
        .filter((file) => file.endsWith(SUFFIX))
        .map((file) => `${event.replace('-', ':')}/${file.slice(0, -SUFFIX.length)}`),
    )
    .sort();
}

const SHIPPED_NAME = /^\w[\w:.-]*(\/\w[\w:.-]*)?$/;

// Found by the name of the package, because this code may be in a bundle. createRequire is called as a method, because
// webpack replaces the calls of an imported createRequire.
function shippedFolder(): string {
  try {
    const own = nodeModule.createRequire(ownFile());
    return join(dirname(own.resolve('storefront-webhooks/package.json')), 'fixtures');
  } catch (cause) {
    throw new UsageError('fixture_invalid', NOT_INSTALLED, { cause });
  }
}

const NOT_INSTALLED =
  'The shipped fixtures cannot be found, because storefront-webhooks is not installed where this code runs. Install the package there and, if a bundler made this code, list it as external.';

function shippedFile(name: string): string {
  // No file outside the folder has such a name; "../secret" does not match.
  if (!SHIPPED_NAME.test(name) || name.endsWith('.json')) {
    throw invalid(
      name,
      `the path of a file has to end in ${SUFFIX}, and the name of a shipped fixture is its event, or its event and case, such as order:paid/crypto`,
    );
  }
  const [event = '', variant = 'default'] = name.split('/');
  return join(shippedFolder(), event.replace(':', '-'), `${variant}${SUFFIX}`);
}

function load(file: string, from: readonly string[]): Fixture {
  if (from.includes(file)) throw invalid(file, 'it extends itself');
  const json = readJson(file);
  const isVariant = typeof json === 'object' && json !== null && 'extends' in json;
  if (!isVariant) return toFixture(file, check(file, wholeFile, json));
  const variant = check(file, variantFile, json);
  if (!variant.extends.endsWith(SUFFIX)) {
    throw invalid(file, `the path in extends has to end in ${SUFFIX}`);
  }
  const base = load(resolve(dirname(file), variant.extends), [...from, file]);
  return vary(file, base, variant);
}

function toFixture(file: string, saved: WholeFile): Fixture {
  return {
    file,
    event: saved.event,
    description: saved.description ?? '',
    method: saved.method ?? 'POST',
    headers: saved.headers,
    body: readBody(file, saved.body),
    signing: saved.signing ?? 'resign',
    redacted: saved.redacted ?? [],
    expect: saved.expect,
  };
}

function readBody(file: string, saved: WholeFile['body']): Uint8Array {
  const body =
    'text' in saved ? Buffer.from(saved.text, 'utf8') : Buffer.from(saved.base64, 'base64');
  if ('base64' in saved && body.toString('base64') !== saved.base64) {
    throw invalid(file, 'body.base64 is not Base64');
  }
  const { bytes = body.length, sha256 } = saved;
  if (body.length !== bytes) {
    throw invalid(file, `its body has ${body.length} bytes, but body.bytes says ${bytes}`);
  }
  const actual = createHash('sha256').update(body).digest('hex');
  if (sha256 !== undefined && sha256 !== actual) {
    throw invalid(file, `the SHA-256 of its body is ${actual}, but body.sha256 says ${sha256}`);
  }
  return body;
}

function vary(file: string, base: Fixture, variant: VariantFile): Fixture {
  const renamed: WholeFile['headers'] =
    variant.event === undefined ? [] : [[`${prefixOf(base)}Event`, variant.event]];
  return {
    file,
    event: variant.event ?? base.event,
    description: variant.description ?? base.description,
    method: variant.method ?? base.method,
    headers: replaceHeaders(replaceHeaders(base.headers, renamed), variant.headers ?? []),
    body: variant.merge === undefined ? base.body : patchBody(file, base.body, variant.merge),
    signing: variant.signing ?? base.signing,
    redacted: variant.redacted ?? base.redacted,
    expect: variant.expect ?? base.expect,
  };
}

function patchBody(file: string, body: Uint8Array, patch: unknown): Uint8Array {
  const text = readUtf8(body);
  if (text === undefined) {
    throw invalid(file, 'the body it extends is not UTF-8, so a merge would change its bytes');
  }
  const base = readExact(text);
  if (!base) {
    throw invalid(file, 'the body it extends is not valid JSON, so there is nothing to merge into');
  }
  try {
    return Buffer.from(stringifyExact(mergePatch(base.value, patch)));
  } catch (cause) {
    throw invalid(file, 'its merge, or the body it extends, is nested too deeply', cause);
  }
}

function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Leaves out the parser's error, which quotes the text that it could not read. */
function readExact(text: string): { value: unknown } | undefined {
  try {
    return { value: parseExact(text) };
  } catch {
    return undefined;
  }
}

function replaceHeaders(base: Fixture['headers'], over: Fixture['headers']): Fixture['headers'] {
  const names = new Set(over.map(([name]) => name.toLowerCase()));
  return [...base.filter(([name]) => !names.has(name.toLowerCase())), ...over];
}

function readJson(file: string): unknown {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw invalid(
      file,
      'there is no such file, or it cannot be read. shippedFixtures() lists the fixtures of the package',
      cause,
    );
  }
  // Some editors begin a file with a byte order mark.
  const text = readUtf8(bytes)?.replace(/^\uFEFF/, '');
  if (text === undefined) throw invalid(file, 'it is not UTF-8. Save such a body as body.base64');
  const json = readExact(text);
  if (!json) throw invalid(file, `it is not valid JSON${atLine(text)}`);
  return json.value;
}

/** Names the line of a syntax error, for which the parser does not always give a position. */
function atLine(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    // The end only: an error without a position quotes the text.
    const [, position] = / at position (\d+)( \(line \d+ column \d+\))?$/.exec(`${error}`) ?? [];
    if (position !== undefined) return `, at line ${text.slice(0, +position).split('\n').length}`;
  }
  return '';
}

function check<Schema extends z.ZodMiniType>(
  file: string,
  schema: Schema,
  json: unknown,
): z.output<Schema> {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => {
    const fault = issue.code === 'unrecognized_keys' ? `unknown: ${issue.keys}` : issue.code;
    return `${issue.path.join('.') || 'the whole'} (${fault})`;
  });
  throw invalid(
    file,
    `it does not match the fixture format, version 1. Look at: ${faults.join(', ')}`,
  );
}

function invalid(file: string, reason: string, cause?: unknown): UsageError {
  return new UsageError('fixture_invalid', `The fixture ${file} cannot be used: ${reason}.`, {
    cause,
  });
}
