import { ApiError } from '../api/api-error.js';
import { idsOf, MAX_UNREADABLE, type Page } from '../api/list.js';
import { sha2 } from '../runtime/hashes.js';
import type { Issue } from '../schemas/issue.js';
import { isNone, type ResourceSchema } from '../schemas/resource.js';

/** The largest page size (specification: Limits). */
export const PER_PAGE = 50;

/** How many empty pages in a row end a list, even if the provider says that more follow. */
const MAX_EMPTY = 5;

/** How many pages in a row that were met before end a list, even if the provider says that more follow. */
const MAX_AGAIN = 5;

/**
 * How many pages a list may have: five million records. A list in which new records follow forever has to end. Old
 * records do not end it earlier, because a provider may list the oldest first.
 */
export const MAX_PAGES = 100_000;

/**
 * Makes an `onIssues` for a client. It calls `tell` for each record that cannot be read, because a required
 * field does not fit.
 */
export function tellingOfNone(schema: ResourceSchema<unknown>, tell: () => void) {
  return (_: unknown, issues: readonly Issue[]) => {
    if (isNone(schema, issues)) tell();
  };
}

/**
 * Yields all pages of a list, and requests each one while the one before is read. Keeps no records, however
 * many there are: a record that shifts onto the next page is yielded again.
 *
 * @param operation - The method of the client, such as `orders.list`, for the error.
 * @param fetchPage - Returns a page.
 * @param reading.onUnreadable - Called for each record that cannot be read.
 * @param reading.signal - The caller's. A request that runs when the caller stops reading ends as well.
 * @throws {ApiError} `response_invalid` if the list has no end.
 */
export async function* pagesOf<Item extends { readonly id: string }>(
  operation: string,
  fetchPage: (page: number, fetching: Fetching) => Promise<Page<Item>>,
  { signal, onUnreadable }: { signal?: AbortSignal | undefined; onUnreadable?: () => void } = {},
): AsyncGenerator<Page<Item>, void, undefined> {
  const stopped = new AbortController();
  try {
    const either = signal ? AbortSignal.any([signal, stopped.signal]) : stopped.signal;
    yield* readPages(operation, fetchPage, { signal: either, onNone: onUnreadable ?? (() => {}) });
  } finally {
    stopped.abort();
  }
}

/** The terms of the request for a page. */
export interface Fetching {
  /** To be called for each record that is not among the items of the page because it cannot be read. */
  readonly onNone: () => void;
  /** Ends the request. */
  readonly signal: AbortSignal;
}

async function* readPages<Item extends { readonly id: string }>(
  operation: string,
  fetchPage: (page: number, fetching: Fetching) => Promise<Page<Item>>,
  { signal, onNone }: Fetching,
): AsyncGenerator<Page<Item>, void, undefined> {
  const fetchCounted = async (number: number) => {
    let unreadable = 0;
    const count = () => {
      unreadable += 1;
      onNone();
    };
    const page = await fetchPage(number, { onNone: count, signal });
    return { page, hasUnreadable: unreadable > 0 };
  };
  // Digests of the pages so far. There may be many.
  const met = new Set<string>();
  let next = fetchCounted(1);
  let [empty, unreadable, again] = [0, 0, 0];
  for (let count = 1; ; count++) {
    const { page, hasUnreadable } = await next;
    const ids = idsOf(page);
    const digest = ids === '' ? '' : sha2.sha256(ids);
    empty = ids === '' && !hasUnreadable ? empty + 1 : 0;
    unreadable = ids === '' && hasUnreadable ? unreadable + 1 : 0;
    // A server that ignores the page number may return the same page forever, or a few in turn.
    const isMet = met.has(digest);
    if (ids !== '') again = isMet ? again + 1 : 0;
    const isSame = ids === '' ? unreadable > MAX_UNREADABLE : isMet;
    const isOver =
      page.totalPages === undefined
        ? empty > 0 || isSame
        : page.page >= page.totalPages || empty === MAX_EMPTY || again === MAX_AGAIN;
    if (!isOver && count === MAX_PAGES) throw endless(operation);
    if (!isOver) {
      next = fetchCounted(page.page + 1);
      // The next turn awaits it. If the caller stops reading, its error is ignored.
      next.catch(() => {});
    }
    yield page;
    if (isOver) return;
    met.add(digest);
  }
}

function endless(operation: string): ApiError {
  const message = `The list has more than ${MAX_PAGES} pages, so it may have no end.`;
  return new ApiError('response_invalid', message, { operation });
}
