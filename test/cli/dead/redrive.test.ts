import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { run, SECRET, serve } from '../command.js';

/** Leaves deliveries whose handlers have failed in a new store, and returns its file. */
async function leaveDead(count: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'redrive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'shop.db');
  const database = new Database(file);
  const store = sqliteStore(database);
  const about = { scope: '', id: 'whl_1', event: 'order:paid', receivedAt: Date.now() };
  const terms = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };
  for (let at = 0; at < count; at++) {
    const key = `${at}`.padStart(64, '0');
    const claim = await store.claim({ ...about, key, body: new Uint8Array([123, 125]) }, terms);
    if (claim.state !== 'acquired') throw new Error('It was not claimed.');
    await store.fail(key, claim.fence, { permanent: true, error: 'no stock' });
  }
  database.close();
  return file;
}

test.each([
  [200, 'handled'],
  [500, 'failed'],
])('goes on if the shop answers %i %s between bad answers', async (status, outcome) => {
  const bad = { status: 503, outcome: 'unavailable' };
  const answers = [bad, bad, { status, outcome }, bad, bad, { status, outcome }];
  const file = await leaveDead(answers.length);
  let sent = 0;
  const { url } = await serve(
    createServer((request, response) => {
      const answer = answers[sent++] ?? bad;
      request
        .resume()
        .on('end', () => response.writeHead(answer.status).end(JSON.stringify(answer)));
    }),
  );
  const args = ['dead', 'redrive', file, '--apply', '--to', url];
  const done = await run(args, { env: { WEBHOOK_SECRET: SECRET } });
  expect([done.status, sent]).toEqual([1, answers.length]);
});

test('stops after the first delivery if the receiver has another header prefix', async () => {
  const file = await leaveDead(3);
  const receiver = createReceiver({
    secret: SECRET,
    headerPrefix: 'X-Brand-',
    hooks: { onRejected() {} },
  });
  const { url } = await serve(createServer(toNodeHandler(receiver)));
  const redrive = (...args: string[]) =>
    run(['dead', 'redrive', file, '--apply', '--to', url, ...args], {
      env: { WEBHOOK_SECRET: SECRET },
    });
  const stopped = await redrive();
  expect([stopped.status, stopped.records()]).toMatchObject([1, [{ status: 401 }]]);
  expect(stopped.stderr).toContain('The others were not sent');
  const others = await redrive('--header-prefix', 'X-Brand-');
  expect(others.records().map(({ status }) => status)).not.toContain(401);
  expect(others.records()).toHaveLength(2);
});
