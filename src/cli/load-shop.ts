import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from 'storefront-webhooks';
import type {
  DeliveredFunction,
  ReadableLedger,
  RecoverableReceiver,
} from 'storefront-webhooks/recovery';
import { INSIDE } from '../process/inside.js';
import type { Host } from './host.js';
import { quote } from './shell.js';

/** A receiver of a shop, with its handlers. */
type ShopReceiver = RecoverableReceiver & { close(): Promise<void> };

/** What the file of a shop exports. */
export interface LoadedShop {
  readonly receiver: ShopReceiver;
  readonly delivered: DeliveredFunction | undefined;
  readonly ledger: ReadableLedger | undefined;
}

/**
 * Imports the receiver that a module of the shop exports: as `receiver` or as its default, or a function that
 * makes it; and `delivered` or `ledger`, which say what was done.
 *
 * @throws {UsageError} Where there is no such module, or it exports none.
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
  const receiver: unknown = typeof exported === 'function' ? await exported() : exported;
  if (isReceiver(receiver)) {
    const { delivered, ledger } = bagOf(module);
    return {
      receiver,
      delivered: isDelivered(delivered) ? delivered : undefined,
      ledger: isLedger(ledger) ? ledger : undefined,
    };
  }
  const found = exported === undefined ? 'exports no receiver' : 'exports something else';
  throw new UsageError(
    'option_invalid',
    `${path} ${found}. Add to it: export const receiver = createReceiver({ secret, store }).on('order:paid', …); or export a function that makes it.`,
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
    if (!isUnknownExtension(error)) throw error;
    throw new UsageError(
      'option_invalid',
      `This Node does not read ${path}. With npm install tsx: NODE_OPTIONS='--import tsx' npx storefront-webhooks ${args.map(quote).join(' ')}`,
    );
  }
}

function isUnknownExtension(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION';
}

function findExport(module: object): unknown {
  const { receiver, default: main } = bagOf(module);
  return receiver ?? main;
}

/** What is exported, by its names: in CommonJS, the default has it. */
function bagOf(module: object): Readonly<Record<string, unknown>> {
  const names = module as Readonly<Record<string, unknown>>;
  const { receiver, default: main } = names;
  const isBag = typeof main === 'object' && main !== null && !(INSIDE in main);
  return receiver === undefined && isBag ? bagOf(main) : names;
}

function isDelivered(value: unknown): value is DeliveredFunction {
  return typeof value === 'function';
}

function isLedger(value: unknown): value is ReadableLedger {
  return typeof value === 'object' && value !== null && 'entered' in value;
}

function isReceiver(value: unknown): value is ShopReceiver {
  return typeof value === 'object' && value !== null && INSIDE in value && 'close' in value;
}
