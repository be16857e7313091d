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
 * once, and a record that moves to a page that was read before is missed. `for await` ends after the last page, and
 * also if five pages in a row are empty or repeat the page before, or if 20 or more in a row bring back as many
 * records as there were before, and no new one.
 */
export interface List<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {}

/**
 * How many pages in a row may have no readable record, if the provider does not say how many pages there are.
 */
export const MAX_UNREADABLE = 20;

/**
 * How many pages in a row may be empty or repeat the page before, even if the provider says that more follow. While
 * new records push the others down, a page may have known records only, and the rest still follows.
 */
const MAX_STALE = 5;

/**
 * How many pages in a row may have known records only, such as a few pages in turn, if they bring back as many as there
 * were. New records push each known one onto a later page once at most.
 */
const MAX_KNOWN = 20;

/** A page, and whether records are missing from it because they cannot be read. */
interface ReadPage<Item> {
  readonly page: Page<Item>;
  readonly hasUnreadable: boolean;
}

/** Returns a text that is the same for all pages with the same records, in any order. */
export function idsOf({ items }: Page<{ readonly id: string }>): string {
  return items
    .map(({ id }) => id)
    .sort()
    .join();
}

/**
 * Makes a list.
 *
 * @param fetchPage - Called at once for the first page. It calls its second argument for each record that cannot
 *   be read.
 */
export function toList<Item extends { readonly id: string }>(
  first: number,
  fetchPage: (page: number, onUnreadable: () => void) => Promise<Page<Item>>,
): List<Item> {
  const read = async (number: number) => {
    let hasUnreadable = false;
    const page = await fetchPage(number, () => {
      hasUnreadable = true;
    });
    return { page, hasUnreadable };
  };
  const begun = read(first);
  const firstPage = begun.then(({ page }) => page);
  // The caller may await the list later. Until then, an error must not end the process as unhandled.
  firstPage.catch(() => {});
  return Object.assign(firstPage, {
    [Symbol.asyncIterator]: () => iterate(begun, read),
  });
}

async function* iterate<Item extends { readonly id: string }>(
  begun: Promise<ReadPage<Item>>,
  read: (page: number) => Promise<ReadPage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  const given = new Set<string>();
  let [unreadable, stale, known, again, idsBefore] = [0, 0, 0, 0, ''];
  for (let next = await begun; ; next = await read(next.page.page + 1)) {
    const { page, hasUnreadable } = next;
    const fresh = page.items.filter(({ id }) => !given.has(id));
    for (const item of fresh) given.add(item.id);
    yield* fresh;
    const ids = idsOf(page);
    const isUnreadable = hasUnreadable && ids === '';
    unreadable = isUnreadable ? unreadable + 1 : 0;
    stale = !isUnreadable && (ids === '' || ids === idsBefore) ? stale + 1 : 0;
    if (!isUnreadable) known = fresh.length > 0 ? 0 : known + 1;
    again = fresh.length > 0 ? 0 : again + page.items.length;
    idsBefore = ids;
    // Without a total, the list ends at a page without new records, unless no record of the page can be read.
    const mayGoOn = fresh.length > 0 || (unreadable > 0 && unreadable <= MAX_UNREADABLE);
    const { totalPages } = page;
    const isEndless = stale === MAX_STALE || (known >= MAX_KNOWN && again >= given.size);
    if (totalPages === undefined ? !mayGoOn : page.page >= totalPages || isEndless) return;
  }
}
