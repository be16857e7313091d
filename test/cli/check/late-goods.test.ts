import { expect, test } from 'vitest';
import type { Kept } from './endpoints.js';
import { check } from './runs.js';

/** Hands out a second key when an order is sent again, but only later than a quick count looks. */
function late({ seen, hand }: Kept) {
  return async (request: AsyncIterable<Buffer>, response: { end(): unknown }) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { id } = JSON.parse(Buffer.concat(pieces).toString());
    if (seen.has(id)) setTimeout(() => hand(id), 2000);
    else await hand(id);
    seen.add(id);
    response.end();
  };
}

test.concurrent.each([
  ['the goods of each order', true],
  ['all goods', false],
])(
  'check finds a second key that comes late in the last row if it counts %s',
  async (_, perOrder) => {
    expect(await check(late, { only: ['paid', 'down-and-up'], perOrder })).toMatchObject([
      { row: 'down-and-up', goods: 2, customer: 'Two keys were handed out for one payment.' },
    ]);
  },
);
