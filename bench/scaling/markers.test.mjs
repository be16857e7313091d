import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'vitest';
import { fill } from './markers.mjs';
import { storms } from './scenarios.mjs';
import { tables } from './tables.mjs';

const read = (path) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

test('the tables of the pages are those that npm run plots writes', () => {
  const measured = JSON.parse(read('plots/costs.json'));
  const pages = ['scaling.md', 'performance.md', 'outage.md'].map(read);
  assert.deepEqual(fill(pages, tables(measured, storms(measured.costs))), pages);
});
