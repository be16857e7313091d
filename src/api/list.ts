/** A page of a list (specification: Rules for all endpoints). */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** The number of the page, from 1 on. */
  readonly page: number;
  /** The number of pages, from `X-Total-Pages`; `undefined` if that header is missing. */
  readonly totalPages: number | undefined;
}

/**
 * The result of a list method. Await it for one page, or use `for await` for all records from that page on.
 * The first page is requested at once, the others when they are reached.
 *
 * Pages shift while records are created and deleted: a record that occurs again on the next page is yielded
 * once, and a record that moves to a page that was read before is missed.
 */
export interface List<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {}

/**
 * Makes a list.
 *
 * @param fetchPage - Called at once for the first page.
 */
export function toList<Item extends { readonly id: string }>(
  first: number,
  fetchPage: (page: number) => Promise<Page<Item>>,
): List<Item> {
  const firstPage = fetchPage(first);
  // The caller may await the list later. Until then, an error must not end the process as unhandled.
  firstPage.catch(() => {});
  return Object.assign(firstPage, {
    [Symbol.asyncIterator]: () => iterate(firstPage, fetchPage),
  });
}

async function* iterate<Item extends { readonly id: string }>(
  firstPage: Promise<Page<Item>>,
  fetchPage: (page: number) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  const given = new Set<string>();
  for (let page = await firstPage; ; page = await fetchPage(page.page + 1)) {
    const fresh = page.items.filter(({ id }) => !given.has(id));
    for (const item of fresh) given.add(item.id);
    yield* fresh;
    // Without a total, the list ends at a page without new records.
    if (page.totalPages === undefined ? fresh.length === 0 : page.page >= page.totalPages) return;
  }
}
