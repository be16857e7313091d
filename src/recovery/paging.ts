import type { Page } from '../api/list.js';

/** The most that a page has (specification: Limits). */
export const PER_PAGE = 50;

/** After so many empty pages in a row, those that are said to follow are none. */
const MAX_EMPTY = 5;

/**
 * All pages of a list, each asked for while the one before is read. Nothing of them is kept, however many
 * there are: what shifts onto the next page is met again.
 */
export async function* pagesOf<Item extends { readonly id: string }>(
  fetchPage: (page: number) => Promise<Page<Item>>,
): AsyncGenerator<Page<Item>, void, undefined> {
  let next = fetchPage(1);
  let empty = 0;
  for (let before = ''; ; ) {
    const page = await next;
    const ids = page.items.map(({ id }) => id).join();
    // Where nobody says how many there are, and one that knows no pages gives the same for ever.
    empty = ids === '' ? empty + 1 : 0;
    const isOver =
      page.totalPages === undefined
        ? ids === '' || ids === before
        : page.page >= page.totalPages || empty === MAX_EMPTY;
    if (!isOver) {
      next = fetchPage(page.page + 1);
      // Told by the next turn; nobody listens where the reader has had enough.
      next.catch(() => {});
    }
    yield page;
    if (isOver) return;
    before = ids;
  }
}
