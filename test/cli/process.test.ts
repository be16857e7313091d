import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { builtCommand, compileProgram } from '../support/program.js';
import { asShown, openShop, run, SECRET, serve } from './command.js';
import { follow, spawnCommand, spawnInTerminal } from './process.js';
import { openOutage } from './recover/outage.js';

// What only a process shows, by the built command. What a command says is tested as a function.

describe('the process of a command', () => {
  test.each([
    [0, ['sign', '-'], '{}'],
    [1, ['verify', '-', 'ab'], '{}'],
    [2, ['sendd'], undefined],
  ])('ends with %d, and reads stdin: %j', async (status, args, input) => {
    const env = { WEBHOOK_SECRET: SECRET };
    const ended = await spawnCommand(args, { env, ...(input !== undefined && { input }) }).ended;
    expect(ended.status).toBe(status);
    if (status === 0) expect(ended.stdout).toBe((await run(args, { env, input: '{}' })).stdout);
  });

  test('is started by its first line, through the link that npm makes', async () => {
    const { folder } = await openOutage();
    const link = join(folder, 'storefront-webhooks');
    chmodSync(builtCommand(), 0o755);
    symlinkSync(builtCommand(), link);
    const { status, stdout } = await follow([link, '--version'], {}).ended;
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });

  test('ends quietly when a reader has seen enough', async () => {
    const command = `"${process.execPath}" "${builtCommand()}" completion bash | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await follow(['bash', '-c', command], {}).ended;
    expect([stdout.trim().split('\n').at(-1), stderr]).toEqual(['0', '']);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('that serves ends with 0 at a %s', async (signal) => {
    const sandbox = spawnCommand(['sandbox', '--port', '0']);
    await sandbox.says('stdout', 'openapi.json');
    sandbox.child.kill(signal);
    expect((await sandbox.ended).status).toBe(0);
  });
});

// That is made by script, which takes other flags elsewhere.
describe.skipIf(process.platform !== 'linux')('a real terminal (made by script of Linux)', () => {
  test.each([80])('of %d columns has colours, and no line that is longer', async (columns) => {
    const { url } = await openShop();
    const args = ['send', 'order:paid', url, '--duplicate', '3'];
    const env = { WEBHOOK_SECRET: SECRET };
    const shown = asShown(await spawnInTerminal(columns, args, { env, input: '' }).ended);
    expect(shown.status).toBe(0);
    expect(shown.stdout).toContain('\u001b[32m');
    expect(shown.stdout).toContain('2 of 3 sent …\r\u001b[K');
    expect(shown.lines).toHaveLength(4);
    for (const line of shown.lines) expect(line.length).toBeLessThanOrEqual(columns);
    const plain = await spawnInTerminal(columns, args, {
      env: { ...env, NO_COLOR: '1' },
      input: '',
    }).ended;
    expect(plain.stdout).not.toContain('\u001b[3');
  });

  test('is asked a question, and takes a no', async () => {
    const args = ['check', 'https://192.0.2.1/webhooks'];
    const env = { WEBHOOK_SECRET: SECRET };
    const asked = spawnInTerminal(80, args, { env });
    await asked.says('stdout', '[y/N]');
    asked.child.stdin.write('n\n');
    const { status, stdout } = await asked.ended;
    expect([status, stdout]).toEqual([2, expect.stringContaining('Nothing was sent.')]);
  });
});

describe('a command that runs the code of a shop', () => {
  const files: Record<string, string> = {};
  beforeAll(async () => {
    for (const name of ['receiver', 'make-receiver', 'listening', 'none'])
      files[name] = await compileProgram(`test/cli/recover/${name}.ts`, 'build');
  });
  const shopOf = (name: string) => ['--receiver', files[name] ?? ''];

  test.each([
    ['in the middle of a handler', 'stderr', 2],
    ['between two deliveries', 'stdout', 1],
  ] as const)('killed %s and run again, delivers each order once', async (_, stream, at) => {
    const { args, env, sell, delivered } = await openOutage();
    const ids = await sell(4);
    const applied = [...args, ...shopOf('receiver'), '--apply'];
    const killed = spawnCommand(applied, { env: { ...env, SHOP_MS: '200' } });
    await killed.says(stream, `${ids[at]}`);
    killed.child.kill('SIGKILL');
    expect((await killed.ended).status).toBe(null);
    expect(delivered()).toEqual(ids.slice(0, 2));

    const { status, records } = await spawnCommand(applied, { env }).ended;
    expect([status, records().at(-1)]).toMatchObject([0, { complete: true, missed: 4 }]);
    expect(delivered()).toEqual(ids);
  });

  test('ends after the delivery that is running at a SIGINT', async () => {
    const { args, env, sell, delivered } = await openOutage();
    const ids = await sell(2);
    const interrupted = spawnCommand([...args, ...shopOf('receiver'), '--apply'], {
      env: { ...env, SHOP_MS: '300' },
    });
    await interrupted.says('stderr', `${ids[0]}`);
    interrupted.child.kill('SIGINT');
    const { status, stderr } = await interrupted.ended;
    expect([status, stderr]).toEqual([1, expect.stringContaining('1 of 2 was not tried.')]);
    expect(delivered()).toEqual(ids.slice(0, 1));
  });

  test.each([
    ['makes its receiver, and leaves a timer open', 'make-receiver', 0, 'Nothing was missed.'],
    ['listens', 'listening', 0, 'starts a server, which takes requests while this runs.'],
    ['exports no receiver, and leaves a pool open', 'none', 2, 'exports no receiver. Add to it:'],
  ])('ends soon though the shop %s', async (_, name, status, told) => {
    const { args, env } = await openOutage();
    const ended = await spawnCommand([...args, ...shopOf(name)], { env }).ended;
    expect([ended.status, ended.stderr]).toEqual([status, expect.stringContaining(told)]);
  });

  test('ends with 2 where the shop listens on a port that is taken, and says what to change', async () => {
    const { args, env } = await openOutage();
    const { server } = await serve(createServer());
    const { port } = server.address() as AddressInfo;
    const { status, stderr } = await spawnCommand([...args, ...shopOf('listening')], {
      env: { ...env, PORT: `${port}` },
    }).ended;
    expect(stderr).toContain('starts a server when it is imported, and its port is in use.');
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(status).toBe(2);
  });

  test('names a module that this Node does not read, with what reads it', async () => {
    const { args, env, folder } = await openOutage();
    const file = join(folder, 'receiver.wasp');
    writeFileSync(file, '');
    const { status, stderr } = await spawnCommand([...args, '--receiver', file], { env }).ended;
    expect(stderr).toContain("NODE_OPTIONS='--import tsx' npx storefront-webhooks recover");
    expect(status).toBe(2);
  });
});
