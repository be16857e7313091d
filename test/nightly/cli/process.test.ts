import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { recordsIn, serve } from '../../cli/command.js';
import { follow, spawnCommand } from '../../cli/process.js';
import { openOutage } from '../../cli/recover/outage.js';
import { builtCommand, compileProgram } from '../../support/program.js';

describe('a command that runs the code of a shop', () => {
  const files: Record<string, string> = {};
  beforeAll(async () => {
    for (const name of ['receiver', 'make-receiver', 'listening', 'none', 'talkative'])
      files[name] = await compileProgram(`test/cli/recover/${name}.ts`, 'build');
  });
  const shopOf = (name: string) => ['--receiver', files[name] ?? ''];

  test.each([
    ['in the middle of a handler', 'stderr', 2],
    ['between two deliveries', 'stdout', 1],
  ] as const)(
    'delivers each order once if it is killed %s and run again',
    async (_, stream, at) => {
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
    },
  );

  test('ends on SIGINT after the running delivery', async () => {
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
    ['creates its receiver, and leaves a timer open', 'make-receiver', 0, 'Nothing was missed.'],
    ['listens', 'listening', 0, 'starts a server, which accepts requests while this command runs.'],
    ['exports no receiver, and leaves a pool open', 'none', 2, 'exports no receiver. Add to it:'],
  ])('exits soon after it ends, even if the shop %s', async (_, name, status, told) => {
    const { args, env } = await openOutage();
    const ended = await spawnCommand([...args, ...shopOf(name)], { env }).ended;
    expect([ended.status, ended.stderr]).toEqual([status, expect.stringContaining(told)]);
  });

  test('exits with 2 if the shop listens on a port that is in use, with advice', async () => {
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

  test('prints all of its output to a slow reader', async () => {
    const { args, env, sell } = await openOutage();
    await sell(1);
    const child = spawn(process.execPath, [builtCommand(), ...args, ...shopOf('talkative')], {
      env: { ...process.env, ...env },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let told = '';
    child.stdout.setEncoding('utf8').on('data', (piece) => {
      told += piece;
    });
    await vi.waitFor(() => expect(told).toContain('"complete"'), { timeout: 15_000 });
    await sleep(2_000);
    const [long, ...notes] = (await text(child.stderr)).trim().split('\n');
    expect(long).toHaveLength(2 ** 20);
    expect(notes.join('\n')).toContain('Nothing was done');
    expect(recordsIn(told)).toMatchObject([{ outcome: 'listed' }, { complete: false }]);
  });

  test('runs to its end with --apply, if the reader of its output and its errors ends early', async () => {
    const { args, env, sell, delivered } = await openOutage();
    const ids = await sell(3);
    const all = [process.execPath, builtCommand(), ...args, ...shopOf('receiver'), '--apply'];
    const command = `${all.map((word) => `"${word}"`).join(' ')} 2>&1 | head -1; echo "\${PIPESTATUS[0]}"`;
    const shop = { ...env, SHOP_MS: '200', SHOP_BROKEN: ids[1] ?? '' };
    const { stdout } = await follow(['bash', '-c', command], { env: shop }).ended;
    expect(stdout.trim().split('\n').at(-1)).toBe('1');
    expect(delivered()).toEqual([ids[0], ids[2]]);
  });

  test('names a module that this Node cannot read, and a runtime that can', async () => {
    const { args, env, folder } = await openOutage();
    const file = join(folder, 'receiver.wasp');
    writeFileSync(file, '');
    const { status, stderr } = await spawnCommand([...args, '--receiver', file], { env }).ended;
    expect(stderr).toContain("NODE_OPTIONS='--import tsx' npx storefront-webhooks recover");
    expect(status).toBe(2);
  });
});
