import { describe, expect, test } from 'vitest';
import { MAX_PAGES, pagesOf } from '../../src/recovery/pages.js';

interface Asked {
  readonly page: number;
  readonly totalPages: number | undefined;
}

/** Reads a list to its end, and returns the number of pages. */
async function read(idOf: (page: number) => string, totalPages?: number): Promise<number> {
  return readAll((page) => [idOf(page)], totalPages);
}

async function readAll(
  idsOf: (page: number) => readonly string[],
  totalPages?: number,
): Promise<number> {
  const fetchPage = async (page: number): Promise<Asked & { items: { id: string }[] }> => ({
    ...{ items: idsOf(page).map((id) => ({ id })), page, totalPages },
  });
  let count = 0;
  for await (const _ of pagesOf('orders.list', fetchPage)) count += 1;
  return count;
}

describe('a list', () => {
  test.each([undefined, 1_000_000_000])(
    'that never stops returning new records ends with an error, if it states %s pages',
    async (totalPages) => {
      await expect(read((page) => `ord_${page}`, totalPages)).rejects.toMatchObject({
        code: 'response_invalid',
        operation: 'orders.list',
        message: expect.stringContaining(`more than ${MAX_PAGES} pages`),
      });
    },
  );

  test.each([
    [undefined, 2],
    [99, 6],
  ])('of %s pages ends if the same records follow in other orders', async (total, pages) => {
    const ids = Array.from({ length: 50 }, (_, at) => `ord_${at}`);
    const turned = (page: number) => [...ids.slice(page), ...ids.slice(0, page)];
    expect(await readAll(turned, total)).toBe(pages);
  });

  test('goes on after any number of pages that were met before, if new ones come between them', async () => {
    const idOf = (page: number) => `ord_${page % 5 === 4 ? page - 3 : page}`;
    expect(await read(idOf, 100)).toBe(100);
  });

  test('may have as many pages as the limit allows', async () => {
    expect(await read((page) => `ord_${page}`, MAX_PAGES)).toBe(MAX_PAGES);
  });
});
