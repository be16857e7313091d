import { closeSync, openSync } from 'node:fs';
import { UsageError } from 'storefront-webhooks';

/**
 * Checks that a file can be written, before a command does long work whose results go there. Creates the file if it
 * does not exist.
 *
 * @throws {UsageError} If the file cannot be written.
 */
export function checkWritable(file: string | undefined, flag: string): void {
  if (file === undefined) return;
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it failed';
    throw new UsageError('option_invalid', `${flag} names a file that cannot be written: ${why}.`);
  }
}
