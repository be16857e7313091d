import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { newDelivery } from '../../stores/suite.js';
import { runInTerminal } from '../command.js';

/** Returns the lines in which a terminal shows the body of a dead delivery. */
async function shown(body: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'show-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'shop.db');
  const database = new Database(file);
  const store = sqliteStore(database);
  const delivery = { ...newDelivery(), body: new TextEncoder().encode(body) };
  const terms = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };
  const claim = await store.claim(delivery, terms);
  if (claim.state !== 'acquired') throw new Error('It was not claimed.');
  await store.fail(delivery.key, claim.fence, { permanent: true, error: 'no stock' });
  database.close();
  const { lines } = await runInTerminal(80, ['dead', 'show', file, delivery.key]);
  return lines.slice(lines.indexOf('') + 1).join('\n');
}

test('indents a body, and shows its numbers and all of its members as they came', async () => {
  const members = [
    '"id": "ord_2"',
    '"id": "ord_3"',
    '"2": 1e400',
    '"1": -0',
    '"value": 10.00',
    '"fee": 0.1000',
  ];
  const body = `{${members.map((member) => member.replace(': ', ':')).join(',')}}`;
  expect(await shown(body)).toBe(`{\n  ${members.join(',\n  ')}\n}`);
  expect(await shown('[9007199254740993]')).toBe('[\n  9007199254740993\n]');
});

test('indents a body as JSON.stringify does', async () => {
  const body = String.raw`{ "a" : [ ] ,"b":{
  },"c":[1, {"d":[[2],"x , y: { } [\t] \\"]}],
  "\u8ba2\u5355":"\ud83d\ude00 \ud83d \u0022 a\/b \"quoted\": {",  "e":true , "f":null}`;
  expect(await shown(body)).toBe(JSON.stringify(JSON.parse(body), undefined, 2));
});

test('shows a body that is deeply nested', async () => {
  const body = '['.repeat(3000) + ']'.repeat(3000);
  expect((await shown(body)).replace(/\s/g, '')).toBe(body);
});

test('shows a body that is not JSON as it came', async () => {
  expect(await shown('{"id":1, oops')).toBe('{"id":1, oops');
});
