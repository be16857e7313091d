import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from 'storefront-webhooks';
import type { DeliveredFunction, RecoverableReceiver } from 'storefront-webhooks/recovery';
import { INSIDE } from '../process/inside.js';
import { quote } from './shell.js';

/** A receiver of a shop, with its handlers. */
type ShopReceiver = RecoverableReceiver & { close(): Promise<void> };

/** What the file of a shop exports. */
export interface LoadedShop {
  readonly receiver: ShopReceiver;
  readonly delivered: DeliveredFunction | undefined;
}

/**
 * Imports the receiver that a module of the shop exports: as `receiver` or as its default, or a function that
 * makes it; and `delivered`, where it says what was.
 *
 * @throws {UsageError} Where there is no such module, or it exports none.
 */
export async function loadShop(path: string): Promise<LoadedShop> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new UsageError(
      'option_invalid',
      `There is no file ${path}. --receiver takes the file of your shop that exports its receiver.`,
    );
  }
  const module = await importFile(file, path);
  const exported = findExport(module);
  const receiver: unknown = typeof exported === 'function' ? await exported() : exported;
  if (isReceiver(receiver)) return { receiver, delivered: findDelivered(module) };
  const found = exported === undefined ? 'exports no receiver' : 'exports something else';
  throw new UsageError(
    'option_invalid',
    `${path} ${found}. Add to it: export const receiver = createReceiver({ secret, store }).on('order:paid', …); or export a function that makes it.`,
  );
}

async function importFile(file: string, path: string): Promise<object> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    if (!isUnknownExtension(error)) throw error;
    const args = process.argv.slice(2).map(quote).join(' ');
    throw new UsageError(
      'option_invalid',
      `This Node does not read ${path}. With npm install tsx: NODE_OPTIONS='--import tsx' npx storefront-webhooks ${args}`,
    );
  }
}

function isUnknownExtension(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION';
}

/** In CommonJS, the default has what is exported. */
function findExport(module: object): unknown {
  const { receiver, default: main } = module as Readonly<Record<string, unknown>>;
  if (receiver !== undefined) return receiver;
  const isBag = typeof main === 'object' && main !== null && !(INSIDE in main);
  return isBag ? findExport(main) : main;
}

function findDelivered(module: object): DeliveredFunction | undefined {
  const { delivered, default: main } = module as Readonly<Record<string, unknown>>;
  if (typeof delivered === 'function') return delivered as DeliveredFunction;
  const isBag = typeof main === 'object' && main !== null && !(INSIDE in main);
  return isBag ? findDelivered(main) : undefined;
}

function isReceiver(value: unknown): value is ShopReceiver {
  return typeof value === 'object' && value !== null && INSIDE in value && 'close' in value;
}
