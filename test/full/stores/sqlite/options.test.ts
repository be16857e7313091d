import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { installed, withRuntimes } from '../../../runtimes/installed.js';

const PROGRAM = `
  import { DatabaseSync } from 'node:sqlite';
  import { sqliteStore } from 'storefront-webhooks/sqlite';
  const store = sqliteStore(new DatabaseSync(':memory:', JSON.parse(process.argv[1])));
  const body = new TextEncoder().encode('{"id":"ord_1"}');
  const delivery = { key: 'a'.repeat(64), scope: '', id: 'whl_1', event: 'order:paid', receivedAt: 1, body };
  const terms = { owner: 'a', leaseMs: -120_000, keepMs: 60_000, maxCrashes: 3 };
  const { fence } = await store.claim(delivery, terms);
  await store.completeStep(delivery.key, fence, 'mail', 'sent');
  const [{ orderId }] = await store.list({ state: 'stalled' });
  const { steps } = await store.claim(delivery, { ...terms, owner: 'b' });
  console.log(JSON.stringify({ orderId, steps }));`;

withRuntimes('a database of node:sqlite', () => {
  test.each([{ returnArrays: true }, { readBigInts: true }])(
    'may be opened with %j',
    async (options) => {
      const tsx = import.meta.resolve('tsx');
      const args = ['--no-warnings', '--import', tsx, '--input-type=module', '--eval', PROGRAM];
      const run = promisify(execFile);
      const node = installed('node22/bin/node');
      const { stdout } = await run(node, [...args, JSON.stringify(options)]);
      expect(JSON.parse(stdout)).toEqual({ orderId: 'ord_1', steps: { mail: 'sent' } });
    },
  );
});
