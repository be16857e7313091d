import type { Page } from '../api/list.js';
import type { Issue } from '../schemas/issue.js';
import { isNone, type ResourceSchema } from '../schemas/resource.js';

/** The most that a page has (specification: Limits). */
export const PER_PAGE = 50;

/** After so many empty pages in a row, those that are said to follow are none. */
const MAX_EMPTY = 5;

/** So many in a row may have nothing that can be read, where nobody says how many there are. */
const MAX_UNREADABLE = 20;

/** For a client's `onIssues`: tells of each record that is none of the specification. */
export function tellingOfNone(schema: ResourceSchema<unknown>, tell: () => void) {
  return (_: unknown, issues: readonly Issue[]) => {
    if (isNone(schema, issues)) tell();
  };
}

/**
 * All pages of a list, each asked for while the one before is read. Nothing of them is kept, however many
 * there are: what shifts onto the next page is met again.
 *
 * @param fetchPage - Gives a page, and calls its second argument for each record that is not among its items,
 *   because it cannot be read.
 * @param onUnreadable - Told of each of these.
 */
export async function* pagesOf<Item extends { readonly id: string }>(
  fetchPage: (page: number, onUnreadable: () => void) => Promise<Page<Item>>,
  onUnreadable: () => void = () => {},
): AsyncGenerator<Page<Item>, void, undefined> {
  const fetchCounted = async (number: number) => {
    let unreadable = 0;
    const page = await fetchPage(number, () => {
      unreadable += 1;
      onUnreadable();
    });
    return { page, hasUnreadable: unreadable > 0 };
  };
  let next = fetchCounted(1);
  let [empty, unreadable] = [0, 0];
  for (let before = ''; ; ) {
    const { page, hasUnreadable } = await next;
    const ids = page.items.map(({ id }) => id).join();
    empty = ids === '' && !hasUnreadable ? empty + 1 : 0;
    unreadable = ids === '' && hasUnreadable ? unreadable + 1 : 0;
    // Where nobody says how many there are, one that knows no pages gives the same for ever.
    const isSame = ids === '' ? unreadable > MAX_UNREADABLE : ids === before;
    const isOver =
      page.totalPages === undefined
        ? empty > 0 || isSame
        : page.page >= page.totalPages || empty === MAX_EMPTY;
    if (!isOver) {
      next = fetchCounted(page.page + 1);
      // Told by the next turn; nobody listens where the reader has had enough.
      next.catch(() => {});
    }
    yield page;
    if (isOver) return;
    before = ids;
  }
}
