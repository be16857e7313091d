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

/** `node:sqlite` throws when it reads an integer beyond 2^53. */
const KEEPS_LONG = `
  import { DatabaseSync } from 'node:sqlite';
  import { createReceiver } from 'storefront-webhooks';
  import { sqliteStore } from 'storefront-webhooks/sqlite';
  import { replay } from 'storefront-webhooks/testing';
  const store = sqliteStore(new DatabaseSync(':memory:'));
  const receiver = createReceiver({ secret: 'a secret for tests', store, keepDays: 2e8 });
  receiver.on('order:paid', () => {}, { name: 'sell' });
  const first = await replay(receiver, 'order:paid');
  const second = await replay(receiver, 'order:paid');
  console.log(JSON.stringify([first.outcome, second.outcome]));`;

async function evaluate(program: string, ...args: readonly string[]): Promise<unknown> {
  const tsx = ['--import', import.meta.resolve('tsx'), '--input-type=module'];
  const run = promisify(execFile);
  const node = installed('node22/bin/node');
  const { stdout } = await run(node, ['--no-warnings', ...tsx, '--eval', program, ...args]);
  return JSON.parse(stdout);
}

withRuntimes('a database of node:sqlite', () => {
  test.each([{ returnArrays: true }, { readBigInts: true }])(
    'may be opened with %j',
    async (options) => {
      const kept = { orderId: 'ord_1', steps: { mail: 'sent' } };
      expect(await evaluate(PROGRAM, JSON.stringify(options))).toEqual(kept);
    },
  );

  test('remembers deliveries of a receiver with a very large keepDays', async () => {
    expect(await evaluate(KEEPS_LONG)).toEqual(['handled', 'duplicate']);
  });
});
