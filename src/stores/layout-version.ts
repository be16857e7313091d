import { WebhookError } from '../errors/errors.js';

/**
 * The version of the layout of stored data. Each change of the layout adds 1. Data without a recorded layout has
 * layout 1, which did not record it.
 *
 * - 2: adds whether a lease was renewed. The layout of version 0.1.0.
 * - 3: in PostgreSQL and SQLite, the index of unfinished deliveries omits rows without a body, such as goods. In
 *   PostgreSQL, this version does not write `lease_ms` and `max_crashes`, which all tables keep for version 0.1.0.
 */
export const LAYOUT = 3;

/** The oldest layout whose processes can share a database with this version. */
export const BESIDE = 1;

/** The layout that a store has recorded. */
export interface FoundLayout {
  readonly layout: number;
  readonly beside: number;
}

/**
 * Checks that this version can use the recorded layout.
 *
 * @param where - The name of the database, such as `PostgreSQL`.
 * @throws {WebhookError} `schema_newer` if a newer, incompatible version has written there.
 */
export function checkLayout(found: FoundLayout | undefined, where: string): void {
  if (!found || found.beside <= LAYOUT) return;
  throw new WebhookError(
    'schema_newer',
    `The data in ${where} has layout ${found.layout}, of a newer version of this package. ` +
      `This version knows layout ${LAYOUT} and would damage the data: deploy the newer version here too.`,
  );
}
