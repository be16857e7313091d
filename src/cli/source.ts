import { existsSync, readFileSync } from 'node:fs';
import { UsageError } from 'storefront-webhooks';
import { type Fixture, loadFixture, shippedFixtures } from 'storefront-webhooks/testing';
import { isJsonObject } from '../schemas/values.js';
import { unsigned } from './fixture-file.js';
import type { Host } from './host.js';
import { readStdin } from './stdin.js';
import { closest } from './suggestion.js';

/**
 * Reads the bytes of a file, or of stdin for `-`.
 *
 * @throws {UsageError} If the path names no file that this user can read.
 */
export function readBytes(path: string, { stdin }: Pick<Host, 'stdin'>): Uint8Array {
  if (path === '-') return stdin.read?.() ?? readStdin();
  try {
    return readFileSync(path);
  } catch (error) {
    const mistake = MISTAKES[String(Object(error).code)];
    throw mistake ? new UsageError('option_invalid', mistake(path)) : error;
  }
}

/** The errors of a mistyped path. Any other error, such as one of the disk, is not wrong usage. */
const MISTAKES: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `There is no file ${path}.`,
  ENOTDIR: (path) => `There is no file ${path}.`,
  EISDIR: (path) => `${path} is a folder: name a file.`,
  EACCES: (path) => `This user is not allowed to read ${path}.`,
};

/**
 * Reads the delivery that `<event|fixture|file|->` names. A body alone becomes a delivery.
 *
 * @param event - The event of a body that does not name it.
 * @throws {UsageError} If nothing has that name.
 */
export function readSource(name: string, host: Host, event?: string): Fixture {
  if (name.endsWith('.hook.json')) return loadFixture(name);
  if (name === '-' || existsSync(name)) return toFixture(name, readBytes(name, host), event);
  const shipped = shippedFixtures();
  const found = shipped.find((one) => one === name || one === `${name}/default`);
  if (found !== undefined) return loadFixture(found);
  const hint = closest(name, [...shipped.map((one) => one.replace(/\/default$/, ''))]);
  throw new UsageError(
    'fixture_invalid',
    `There is no event, fixture or file ${name}.${hint} Fixtures are named by event and case, such as order:paid or order:paid/crypto.`,
  );
}

function toFixture(file: string, body: Uint8Array, event = eventOf(body)): Fixture {
  if (event === undefined) {
    throw new UsageError(
      'option_invalid',
      'The body does not name its event. Add it, such as --event order:paid.',
    );
  }
  return { file, ...unsigned(event, `whl_${crypto.randomUUID()}`, body) };
}

/** Returns the event that the body itself names, as the bodies of some providers do. */
function eventOf(body: Uint8Array): string | undefined {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    return isJsonObject(parsed) && typeof parsed.event === 'string' ? parsed.event : undefined;
  } catch {
    return undefined;
  }
}
