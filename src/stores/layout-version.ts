import { WebhookError } from '../errors.js';

/**
 * The layout of what the stores keep: one more with each change of it. Stores without a record of theirs
 * are of layout 1, which was before there was one.
 *
 * - 2: whether a lease has been renewed. In PostgreSQL, `lease_ms` and `max_crashes` are no longer made nor
 *   written; tables of layout 1 keep them, for the processes of that version beside this one.
 */
export const LAYOUT = 2;

/** The oldest layout whose processes may go on working beside this one. */
export const BESIDE = 1;

/** What a store has recorded of its layout. */
export interface FoundLayout {
  readonly layout: number;
  readonly beside: number;
}

/**
 * @param where - Such as `PostgreSQL`.
 * @throws {WebhookError} `schema_newer` where a version has written there that this one cannot live beside.
 */
export function checkLayout(found: FoundLayout | undefined, where: string): void {
  if (!found || found.beside <= LAYOUT) return;
  throw new WebhookError(
    'schema_newer',
    `What is stored in ${where} is of layout ${found.layout}, of a newer version of this package. ` +
      `This version knows layout ${LAYOUT} and would damage it: deploy the newer version here, too.`,
  );
}
