import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from 'storefront-webhooks';
import type {
  DeliveredFunction,
  ReadableLedger,
  RecoverableReceiver,
} from 'storefront-webhooks/recovery';
import { describeInFull } from '../errors/text.js';
import { INTERNALS } from '../process/internals.js';
import type { Host } from './host.js';
import { quote } from './shell.js';

/** A receiver of a shop, with its handlers. */
type ShopReceiver = RecoverableReceiver & { close(): Promise<void> };

/** The exports of a shop's file. */
export interface LoadedShop {
  readonly receiver: ShopReceiver;
  readonly delivered: DeliveredFunction | undefined;
  readonly ledger: ReadableLedger | undefined;
}

/**
 * Imports the receiver that a module of the shop exports: as `receiver`, as the default, or as a function that
 * creates it, which may also have the name `makeReceiver`. Also imports `delivered` or `ledger`, which report what was delivered.
 *
 * @throws {UsageError} If the module does not exist, or exports no receiver.
 */
export async function loadShop(path: string, host: Pick<Host, 'args'>): Promise<LoadedShop> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new UsageError(
      'option_invalid',
      `There is no file ${path}. --receiver takes the file of your shop that exports its receiver.`,
    );
  }
  const module = await importFile(file, path, host);
  const exported = findExport(module);
  const receiver = await make(exported, path);
  if (isReceiver(receiver)) {
    const { delivered, ledger } = bagOf(module);
    return {
      receiver,
      delivered: isDelivered(delivered) ? delivered : undefined,
      ledger: isLedger(ledger) ? ledger : undefined,
    };
  }
  const found =
    exported === undefined ? 'exports no receiver' : 'exports something that is not a receiver';
  throw new UsageError(
    'option_invalid',
    `${path} ${found}. Add to it: export const receiver = createReceiver({ secret, store }).onPaid(…); or export function makeReceiver(), which creates it.`,
  );
}

async function importFile(
  file: string,
  path: string,
  { args }: Pick<Host, 'args'>,
): Promise<object> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    if (!isUnknownExtension(error)) throw failureOf(path, error, placeOf(error, file));
    throw new UsageError(
      'option_invalid',
      `This version of Node cannot import ${path}. Run npm install tsx, then NODE_OPTIONS='--import tsx' npx storefront-webhooks ${args.map(quote).join(' ')}`,
    );
  }
}

async function make(exported: unknown, path: string): Promise<unknown> {
  try {
    return typeof exported === 'function' ? await exported() : exported;
  } catch (error) {
    throw failureOf(path, error);
  }
}

/** Adds the file, and the places in the shop's code, to the message of an error. A usage error stays one. */
function failureOf(path: string, error: unknown, place?: string): Error {
  const message = `${path} failed: ${place === undefined ? '' : `${place}: `}${describeShopError(error)}`;
  if (error instanceof UsageError) return new UsageError(error.code, message);
  // The shop may load another copy of this package.
  const isUsage = error instanceof Error && error.name === 'UsageError';
  return isUsage ? new UsageError('option_invalid', message) : new Error(message);
}

/** Describes an error of the shop's code in one line, with its places and causes. */
export function describeShopError(error: unknown): string {
  // Messages of Node and of compilers have several lines.
  return describeInFull(error).replace(/(?:\\u\{[ad]\}\s*)+/g, ' ');
}

/**
 * Returns the file and line of a syntax error. Node writes them before the stack, but not for an ES module that cannot be
 * parsed. To parse a file again does not run it in Node; Bun and Deno would run it.
 */
function placeOf(error: unknown, file: string): string | undefined {
  if (!(error instanceof SyntaxError) || 'Bun' in globalThis || 'Deno' in globalThis)
    return undefined;
  const checked = () => spawnSync(process.execPath, ['--check', file], CHECK).stderr;
  return placeIn(error.stack) ?? placeIn(checked()) ?? 'it, or a file that it imports';
}

const CHECK = { encoding: 'utf8', timeout: 10_000 } as const;

function placeIn(text = ''): string | undefined {
  const [first = ''] = text.split('\n', 1);
  return /^(?:file:\/\/|\/|[a-z]:).*:\d+$/i.test(first) ? first : undefined;
}

function isUnknownExtension(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION';
}

function findExport(module: object): unknown {
  const { receiver, makeReceiver, default: main } = bagOf(module);
  return receiver ?? makeReceiver ?? main;
}

/** Returns the exports by name. The default export of a CommonJS module has them. */
function bagOf(module: object): Readonly<Record<string, unknown>> {
  const names = module as Readonly<Record<string, unknown>>;
  const { receiver, makeReceiver, default: main } = names;
  const isBag = typeof main === 'object' && main !== null && !(INTERNALS in main);
  return (receiver ?? makeReceiver) === undefined && isBag ? bagOf(main) : names;
}

function isDelivered(value: unknown): value is DeliveredFunction {
  return typeof value === 'function';
}

function isLedger(value: unknown): value is ReadableLedger {
  return typeof value === 'object' && value !== null && 'entered' in value;
}

function isReceiver(value: unknown): value is ShopReceiver {
  return typeof value === 'object' && value !== null && INTERNALS in value && 'close' in value;
}
