import { UsageError } from './errors.js';

/**
 * Returns the error for a package whose version is too old.
 *
 * @param needs - The package and its oldest version that works, such as `Fastify 4`.
 * @param found - The version that is installed, as far as the object states it.
 * @param install - The name and version that npm installs instead.
 */
export function tooOld(who: string, needs: string, found: string, install: string): UsageError {
  return new UsageError(
    'version_unsupported',
    `${who} needs ${needs} or later, and this is ${found}: npm install ${install}.`,
  );
}
