import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import Database from 'libsql';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { loadFixture, replay, sign } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openShop, SECRET, serve } from '../../cli/command.js';
import { follow } from '../../cli/process.js';
import { installed, withRuntimes } from '../../runtimes/installed.js';
import { makeProject, type Project } from '../../runtimes/project.js';
import { type Started, start } from '../../support/start.js';

type Runtime = readonly [command: string, ...options: string[]];

const NODES = [
  ['Node 20', [installed('node20/bin/node')]],
  ['Node 24', [installed('node24/bin/node')]],
] as const;
const OTHERS = [
  ['Bun', [installed('.bin/bun')]],
  ['Deno', [installed('.bin/deno'), 'run', '--allow-all']],
] as const;

const BODY = '{"id":"ord_1","status":100,"value":10.0}';
const env = { WEBHOOK_SECRET: SECRET, NO_COLOR: '1' };

withRuntimes('the command as it is built', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('cli');
  }, 120_000);
  afterAll(() => project?.remove());

  const CLI = 'node_modules/storefront-webhooks/dist/cli.js';
  const inProject = (file: string) => join(project.folder, file);
  const write = (file: string, text: string) => writeFileSync(inProject(file), text);
  beforeEach(() => {
    for (const made of ['test', 'src', 'shop.db'])
      rmSync(inProject(made), { recursive: true, force: true });
    write('body.json', BODY);
  });

  /** Runs the command to its end. All of its stdout has to be JSON. */
  const run = ([command, ...options]: Runtime, ...args: string[]) =>
    follow([command, ...options, CLI, ...args], { cwd: project.folder, env, input: '' }).ended;

  /** Starts a command that runs until it is interrupted. */
  async function serveBy([command, ...options]: Runtime, ...args: string[]): Promise<Started> {
    const started = await start(command, [...options, CLI, ...args], { cwd: project.folder, env });
    onTestFinished(() => started.stop());
    return started;
  }

  async function endedWell(started: Started): Promise<void> {
    started.terminate();
    expect(await started.ended).toBe(0);
  }

  describe.each([...NODES, ...OTHERS])('on %s', (_, runtime: Runtime) => {
    test('sends', async () => {
      const { url, delivered } = await openShop();
      const { status, records, stderr } = await run(runtime, 'send', 'order:paid', url);
      expect(records()).toMatchObject([{ status: 200, outcome: 'handled', good: true }]);
      expect([status, stderr, delivered.length]).toEqual([0, '', 1]);
      const again = await run(
        runtime,
        'send',
        'order:paid',
        url,
        '--corrupt',
        '--set',
        'status=51',
      );
      expect(again.records()).toMatchObject([{ status: 401, outcome: 'rejected' }]);
      expect([again.status, again.stderr]).toEqual([0, 'status: 100 → 51\n']);
    });

    test('signs and verifies', async () => {
      const signature = sign(BODY, SECRET);
      const signed = await run(runtime, 'sign', 'body.json');
      expect([signed.status, signed.stderr]).toEqual([0, '']);
      expect(signed.stdout).toBe(`${signature}\n`);
      const fits = await run(runtime, 'verify', 'body.json', signature);
      expect([fits.status, fits.records(), fits.stderr]).toMatchObject([0, [{ valid: true }], '']);
      const wrong = await run(runtime, 'verify', 'body.json', 'f'.repeat(128));
      expect([wrong.status, wrong.records()]).toMatchObject([1, [{ valid: false }]]);
    });

    test('reports wrong usage on stderr', async () => {
      const { status, stdout, stderr } = await run(
        runtime,
        'send',
        'order:payed',
        'http://localhost',
      );
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^[^\n]*Did you mean "order:paid"\?[^\n]*\n$/);
    });
  });

  describe.each(NODES)('on %s', (_, runtime: Runtime) => {
    test('replays', async () => {
      const { url, delivered } = await openShop();
      const folder = 'node_modules/storefront-webhooks/fixtures/order-paid';
      const { status, records, stderr } = await run(runtime, 'replay', folder, url);
      expect([status, stderr, delivered.length > 3]).toEqual([0, '', true]);
      expect(records().filter(({ outcome }) => outcome === 'handled')).toHaveLength(
        delivered.length,
      );
    });

    test('names the cause', async () => {
      const received = JSON.stringify(JSON.parse(BODY));
      write('received.json', received);
      const args = ['received.json', sign(BODY, SECRET), '--framework', 'express'];
      const { status, records, stderr } = await run(runtime, 'doctor', ...args);
      expect([status, records()]).toMatchObject([
        1,
        [{ result: 'explained', bytes: received.length, change: expect.any(String) }],
      ]);
      expect(stderr).toMatch(/^This output shows bytes of the body/);
      const genuine = await run(runtime, 'doctor', 'body.json', sign(BODY, SECRET));
      expect([genuine.status, genuine.records()]).toMatchObject([0, [{ result: 'genuine' }]]);
    });

    test('checks', async () => {
      const { url } = await openShop();
      const args = ['check', url, '--only', 'unsigned', '--only', 'tampered'];
      const { status, records, stderr } = await run(runtime, ...args);
      expect([status, records()]).toMatchObject([
        0,
        [
          { row: 'tampered', verdict: 'passed' },
          { row: 'unsigned', verdict: 'passed' },
        ],
      ]);
      expect(stderr).toContain('2 passed, 0 failed');
      const forgetful = createServer((request, response) =>
        request.resume().on('end', () => response.end('{}')),
      );
      const open = await serve(forgetful);
      const failed = await run(runtime, 'check', open.url, '--only', 'unsigned');
      expect([failed.status, failed.records()]).toMatchObject([1, [{ verdict: 'failed' }]]);
    });

    test('records deliveries, and saves one as a test', async () => {
      const { url, delivered } = await openShop();
      const recorder = await serveBy(runtime, 'record', url);
      const order = loadFixture('order:paid');
      const { status } = await replay(`${recorder.origin}/webhooks`, order, { secret: SECRET });
      await endedWell(recorder);
      expect([status, delivered.length]).toEqual([200, 1]);
      expect(recorder.output()).toContain('1 delivery saved in test/webhooks.');
      const [name = ''] = readdirSync(inProject('test/webhooks'));
      const file = `test/webhooks/${name}`;
      expect(loadFixture(inProject(file))).toMatchObject({
        event: 'order:paid',
        expect: { outcome: 'handled' },
      });

      mkdirSync(inProject('src'));
      write('src/webhooks.ts', 'export const receiver = createReceiver({ secret });\n');
      const saved = await run(runtime, 'save', file);
      expect([saved.status, saved.stderr]).toEqual([0, '']);
      const [{ test: written }] = saved.records();
      expect(readFileSync(inProject(written), 'utf8')).toContain('0002-order-paid.hook.json');
    });

    test('lists and redrives stored deliveries', async () => {
      const database = new Database(inProject('shop.db'));
      onTestFinished(() => void database.close());
      const store = sqliteStore(database);
      const terms = { owner: 'a', leaseMs: 1000, keepMs: 1e9, maxCrashes: 5 };
      const key = 'a'.repeat(64);
      const body = new TextEncoder().encode(BODY);
      const delivery = { key, scope: '', id: 'whl_1', event: 'order:paid', receivedAt: Date.now() };
      const claim = await store.claim({ ...delivery, body }, terms);
      if (claim.state !== 'acquired') throw new Error('it was not claimed');
      await store.fail(key, claim.fence, { permanent: true, error: 'no stock' });

      const counted = await run(runtime, 'dead', 'count', 'shop.db');
      expect([counted.status, counted.records()]).toMatchObject([0, [{ dead: 1 }]]);
      const listed = await run(runtime, 'dead', 'list', 'shop.db');
      expect(listed.records()).toMatchObject([{ key, error: 'no stock' }]);
      expect([counted.stderr, listed.stderr]).toEqual(['', '']);
      const shown = await run(runtime, 'dead', 'show', 'shop.db', 'whl_1');
      expect(shown.records()).toMatchObject([{ key, body: BODY }]);
      const { status, records } = await run(runtime, 'dead', 'redrive', 'shop.db', '--apply');
      expect([status, records()]).toMatchObject([0, [{ action: 'put back' }]]);
      expect(await store.count({ state: 'dead' })).toBe(0);
    });

    test("completes the shell's command line", async () => {
      const { status, stdout, stderr } = await run(runtime, 'completion', 'bash');
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout).toContain('--forge-event');
    });

    test('serves the sandbox', async () => {
      const sandbox = await serveBy(runtime, 'sandbox', '--port', '0');
      const headers = { authorization: 'Bearer sk_test_demo' };
      const response = await fetch(`${sandbox.origin}/api/v2/products`, { headers });
      expect([response.status, await response.json()]).toEqual([200, []]);
      await endedWell(sandbox);
    });
  });
});
