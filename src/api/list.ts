/** A page of a list (specification: Rules for all endpoints). */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Its number, from 1 on. */
  readonly page: number;
  /** How many pages there are, by `X-Total-Pages`; `undefined` where that is missing. */
  readonly totalPages: number | undefined;
}

/**
 * What a list method gives. Awaited, it is one page; in `for await`, all records from that page on. That
 * page is asked for at once, the others when they are reached.
 *
 * Pages shift while records come and go: a record that is met again on the next page is given once, one
 * that moves to a page that was read before is missed.
 */
export interface List<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {}

/** @param fetchPage - Called at once for the first page. */
export function toList<Item extends { readonly id: string }>(
  first: number,
  fetchPage: (page: number) => Promise<Page<Item>>,
): List<Item> {
  const firstPage = fetchPage(first);
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
    // Without a total, the end is where nothing new comes.
    if (page.totalPages === undefined ? fresh.length === 0 : page.page >= page.totalPages) return;
  }
}
