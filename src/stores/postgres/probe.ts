import { UsageError } from '../../errors/errors.js';
import type { Row } from './client.js';

/** Texts that come back changed if the client trims, parses or converts texts. */
const TEXTS = { probe: '{" Probe": "1 "}', digits: '007' } as const;

/** Columns that show in which form a client returns names and values. */
export const PROBE = `'${TEXTS.probe}' AS probe, '${TEXTS.digits}' AS digits`;

/**
 * Checks the first row that a client returns, and returns it.
 *
 * @throws {UsageError} `client_invalid`, with the option that causes it.
 */
export function checkProbe(row: Row | undefined): Row {
  if (row?.maybe('probe') === TEXTS.probe && row.maybe('digits') === TEXTS.digits) return row;
  throw new UsageError('client_invalid', `The client of PostgreSQL ${faultOf(row)}`);
}

function faultOf(row: Row | undefined): string {
  if (!row) return 'returned no row for a SELECT. Pass the client of the driver itself.';
  const [first = ''] = row.names;
  if (row.names.includes('probe')) {
    return (
      'changes texts. Give the store a client without the option that does so: a parser for text in `types` of ' +
      'pg or postgres.js or in `parsers` of PGlite, or transform.value of postgres.js.'
    );
  }
  if (first === '0' || first === '') {
    return "returns rows as arrays. Leave out rowMode: 'array', arrayMode of Neon, or transform.row of postgres.js.";
  }
  return (
    `changes the names of columns: "probe" came back as ${JSON.stringify(first)}. Leave out transform.column ` +
    'of postgres.js, or the option of your wrapper that does so.'
  );
}
