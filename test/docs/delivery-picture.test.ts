import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drawDelivery, STEPS } from './delivery-picture.js';

// To redraw it: npx vitest run test/docs/delivery-picture.test.ts --update
test('docs/delivery.svg shows the path of a delivery', async () => {
  await expect(drawDelivery()).toMatchFileSnapshot('../../docs/delivery.svg');
});

test('the picture has every answer of docs/answers.md except those of goods, and no other', () => {
  const table = readFileSync('docs/answers.md', 'utf8').matchAll(
    /^\|.*\| (\d{3}) \| `(\w+)` \|$/gm,
  );
  const answered = new Set(Array.from(table, ([, status, outcome]) => `${status} ${outcome}`));
  const drawn = new Set(
    STEPS.flatMap(({ leaves }) => leaves).flatMap((words) => {
      const [, statuses = '', outcomes = ' rejected'] =
        /^([\d, ]+?)( [a-z, ]+)?$/.exec(words) ?? [];
      return statuses.split(', ').flatMap((status) =>
        outcomes
          .trim()
          .split(', ')
          .map((outcome) => `${status} ${outcome}`),
      );
    }),
  );
  for (const of of ['200 handled', '200 queued', '403 rejected']) answered.delete(of);
  expect([...drawn].sort()).toEqual([...answered].sort());
});
