import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { UsageError } from 'storefront-webhooks';

/**
 * Checks that a file can be written, before a command does long work whose results go there. A pipe is not opened: its
 * reader would end.
 *
 * @throws {UsageError} If the file cannot be written.
 */
export function checkWritable(file: string | undefined, flag: string): void {
  if (file === undefined) return;
  try {
    const before = statSync(file, { throwIfNoEntry: false });
    if (before && !before.isFile() && !before.isDirectory()) return;
    closeSync(openSync(file, 'a'));
    // An empty file would look like a result, if the command ends early.
    if (!before) rmSync(file);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it failed';
    throw new UsageError('option_invalid', `${flag} names a file that cannot be written: ${why}.`);
  }
}
