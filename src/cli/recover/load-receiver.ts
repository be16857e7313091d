import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from 'storefront-webhooks';
import type { RecoverableReceiver } from 'storefront-webhooks/recovery';
import { INSIDE } from '../../process/inside.js';
import { quote } from '../shell.js';

/** A receiver of a shop, with its handlers. */
export type ShopReceiver = RecoverableReceiver & { close(): Promise<void> };

/**
 * Imports the receiver that a module of the shop exports: as `receiver` or as its default, or a function that
 * makes it.
 *
 * @throws {UsageError} Where there is no such module, or it exports none.
 */
export async function loadReceiver(path: string): Promise<ShopReceiver> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new UsageError(
      'option_invalid',
      `There is no file ${path}. --receiver takes the file of your shop that exports its receiver.`,
    );
  }
  const exported = findExport(await importFile(file, path));
  const receiver: unknown = typeof exported === 'function' ? await exported() : exported;
  if (isReceiver(receiver)) return receiver;
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

function isReceiver(value: unknown): value is ShopReceiver {
  return typeof value === 'object' && value !== null && INSIDE in value && 'close' in value;
}
