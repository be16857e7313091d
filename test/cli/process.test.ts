import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newFolder } from '../support/folders.js';
import { ended } from '../support/patience.js';
import { builtCommand, compileProgram } from '../support/program.js';
import { asShown, openShop, run, SECRET } from './command.js';
import { follow, spawnCommand, spawnInTerminal } from './process.js';
import { openOutage } from './recover/outage.js';

// Tests of the built command that need a process. Other tests call the command as a function.

describe('the process of the command-line tool', () => {
  test.each([
    [0, ['sign', '-'], '{}'],
    [1, ['verify', '-', 'ab'], '{}'],
    [2, ['sendd'], undefined],
  ])('exits with %d, and reads stdin: %j', async (status, args, input) => {
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

  test.each([
    ['0', 'quietly if it only prints', 'completion bash', 'true'],
    ['0', 'if it only prints its help', 'check --help', 'true'],
    [
      '1',
      'before it has sent all',
      'send order:paid http://127.0.0.1:1/x --duplicate 500',
      'head -1',
    ],
  ])('exits with %s when its reader closes the pipe, %s', async (code, _, args, reader) => {
    const command = `"${process.execPath}" "${builtCommand()}" ${args} | ${reader}; echo "\${PIPESTATUS[0]}"`;
    const env = { WEBHOOK_SECRET: SECRET };
    const { stdout, stderr } = await follow(['bash', '-c', command], { env }).ended;
    expect([stdout.trim().split('\n').at(-1), stderr]).toEqual([code, '']);
  });

  test.skipIf(!existsSync('/dev/full'))(
    'exits with 1 and one line, if the disk is full (/dev/full of Linux)',
    async () => {
      const command = `"${process.execPath}" "${builtCommand()}" completion bash > /dev/full`;
      const { status, stderr } = await follow(['bash', '-c', command], {}).ended;
      expect(stderr).toMatch(/^storefront-webhooks: the output cannot be written: ENOSPC.*\n$/);
      expect(status).toBe(1);
    },
  );

  test('reads an input of many pieces', async () => {
    const env = { WEBHOOK_SECRET: SECRET };
    const input = Array.from({ length: 50_000 }, (_, at) => `${at}`).join();
    const { stdout } = await spawnCommand(['sign', '-'], { env, input }).ended;
    expect(stdout).toBe((await run(['sign', '-'], { env, input })).stdout);
  });

  test('waits for its input, if its stdin does not block', async () => {
    const pipe = join(newFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(pipe, 'w');
    const env = { WEBHOOK_SECRET: SECRET };
    // Node lets the stdin of a child block, but none of its further files.
    const command = `exec "${process.execPath}" "${builtCommand()}" sign - <&3`;
    const child = spawn('bash', ['-c', command], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit', reader],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    closeSync(reader);
    // By then, the command reads.
    await sleep(1_000);
    writeSync(writer, '{}');
    closeSync(writer);
    const { stdout } = await run(['sign', '-'], { env, input: '{}' });
    expect(child.stdout && (await text(child.stdout))).toBe(stdout);
  });

  test.each(['an interrupt', 'the end of its reader'])(
    'removes the database of a drill after %s',
    async (end) => {
      const folder = newFolder();
      const drill = spawnCommand(['drill'], { env: { TMPDIR: folder } });
      await drill.says('stdout', 'opens');
      expect(readdirSync(folder)).toEqual([expect.stringMatching(/^drill-/)]);
      if (end === 'an interrupt') drill.child.kill('SIGINT');
      else drill.child.stdout.destroy();
      expect((await drill.ended).status).toBe(1);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  describe('with --apply', () => {
    /** The words of a recovery, for a shell. */
    const recovery = async (args: readonly string[]) => {
      const receiver = await compileProgram('test/cli/recover/receiver.ts', 'build');
      const own = args.map((arg) => (arg.endsWith('receiver.ts') ? receiver : arg));
      const words = [process.execPath, builtCommand(), ...own, '--apply'];
      return words.map((word) => `"${word}"`).join(' ');
    };

    test('keeps the output of handlers out of the lines of JSON', async () => {
      const { args, env, sell } = await openOutage();
      const [id] = await sell(1);
      const command = await recovery(args);
      const shop = { ...env, SHOP_LOUD: '1' };
      const ended = await follow(['bash', '-c', command], { env: shop }).ended;
      expect(ended.records()).toMatchObject([{ recordId: id }, { complete: true }]);
      expect(ended.stderr).toContain(`written ${id}`);
    });

    test('runs to its end, if its reader ends early', async () => {
      const { args, env, sell, delivered } = await openOutage();
      const ids = await sell(3);
      const command = `${await recovery(args)} | head -1; echo "\${PIPESTATUS[0]}"`;
      const shop = { ...env, SHOP_MS: '200', SHOP_BROKEN: ids[1] ?? '' };
      const { stdout } = await follow(['bash', '-c', command], { env: shop }).ended;
      expect(stdout.trim().split('\n').at(-1)).toBe('1');
      expect(delivered()).toEqual([ids[0], ids[2]]);
    });

    test.skipIf(!existsSync('/dev/full'))(
      'runs to its end and exits with 1, if the disk is full (/dev/full of Linux)',
      async () => {
        const { args, env, sell, delivered } = await openOutage();
        const ids = await sell(3);
        const command = `${await recovery(args)} > /dev/full`;
        const { status, stderr } = await follow(['bash', '-c', command], { env }).ended;
        expect(delivered()).toEqual(ids);
        expect(stderr).toMatch(/^storefront-webhooks: the output cannot be written: ENOSPC.*$/m);
        expect(status).toBe(1);
      },
    );
  });

  test.each([
    ['makeReceiver never resolves', 'export const makeReceiver = () => new Promise(() => {});'],
    ['a top-level await never resolves', 'await new Promise(() => {});'],
  ])('exits with 1 and the reason, if %s', async (_, code) => {
    const { args, env, folder } = await openOutage();
    const file = join(folder, 'shop.mjs');
    writeFileSync(file, code);
    const { status, stderr } = await spawnCommand([...args, '--receiver', file], { env }).ended;
    expect([status, stderr]).toEqual([1, expect.stringContaining('a promise never settles.')]);
  });

  test.each([
    [
      'throws',
      'const shop = undefined;\nexport const receiver = shop.receiver;',
      /shop\.mjs failed: TypeError: .*receiver.*, at file:.*shop\.mjs:2:/,
    ],
    [
      'cannot be parsed',
      '\n\nexport const receiver = ({;',
      /shop\.mjs failed: \S*shop\.mjs:3: SyntaxError: Unexpected token ';'/,
    ],
    [
      'imports a name that does not exist',
      "import { b } from 'data:text/javascript,export const a = 1';",
      /shop\.mjs failed: \S*shop\.mjs:1: SyntaxError: .*export named 'b'/,
    ],
    [
      'imports a file that cannot be parsed',
      "import 'data:text/javascript,({;';",
      /shop\.mjs failed: it, or a file that it imports: SyntaxError: Unexpected token ';'/,
    ],
    [
      'throws an error of several lines',
      "export const makeReceiver = () => { throw new Error('No \\u001b[2Jkey.\\nSee a.js'); };",
      /shop\.mjs failed: Error: No \\u\{1b\}\[2Jkey\. See a\.js, at .*shop\.mjs:1:\d+\)?\n$/,
    ],
    [
      'crashes later',
      "setTimeout(() => { throw new Error('pool lost'); });\nawait new Promise(() => {});",
      /shop\.mjs failed: Error: pool lost, at .*shop\.mjs:1:\d+\)?\n$/,
    ],
  ])('names the place, if the file of the shop %s', async (_, code, wanted) => {
    const { args, env, folder } = await openOutage();
    const file = join(folder, 'shop.mjs');
    writeFileSync(file, code);
    const { status, stderr } = await spawnCommand([...args, '--receiver', file], { env }).ended;
    expect([status, stderr]).toEqual([1, expect.stringMatching(wanted)]);
    expect(stderr.split('\n')).toHaveLength(2);
  });

  test.each([
    ['this package', "createReceiver({ secret: '' })", /secret.*, at .*mjs:2:.*errors\.md#secret_/],
    [
      'another copy of it',
      "Promise.reject(Object.assign(Error('bad'), { name: 'UsageError' }))",
      /: bad, at .*mjs:2:.*errors\.md#option_/,
    ],
  ])('exits with 2 for a wrong option in the file of the shop, by %s', async (_, code, wanted) => {
    const { args, env, folder } = await openOutage();
    const file = join(folder, 'shop.mjs');
    const library = pathToFileURL(join(builtCommand(), '../index.js'));
    writeFileSync(
      file,
      `import { createReceiver } from '${library}';\nexport const receiver = await ${code};`,
    );
    const { status, stderr } = await spawnCommand([...args, '--receiver', file], { env }).ended;
    expect([status, stderr]).toEqual([2, expect.stringMatching(wanted)]);
    expect(stderr).toMatch(/^\S*shop\.mjs failed: UsageError: /);
  });

  test('exits once doctor --listen has received its delivery', async () => {
    const env = { WEBHOOK_SECRET: SECRET };
    const listening = spawnCommand(['doctor', '--listen'], { env });
    await listening.says('stderr', 'Send one');
    const [url = ''] = /http:\/\/[\d.:]+\//.exec(listening.output()) ?? [];
    await fetch(url, { method: 'POST', body: '{}' });
    expect((await ended(listening.ended, 'the command')).status).toBe(1);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'exits with 0 on a %s while it serves',
    async (signal) => {
      const sandbox = spawnCommand(['sandbox', '--port', '0']);
      await sandbox.says('stdout', 'openapi.json');
      sandbox.child.kill(signal);
      expect((await sandbox.ended).status).toBe(0);
    },
  );
});

// The terminal comes from script, whose flags differ on other systems.
describe.skipIf(process.platform !== 'linux')('a real terminal (made by script of Linux)', () => {
  test.each([80])('of %d columns shows colours, and no longer line', async (columns) => {
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

  test('shows the question of a command, which accepts a no', async () => {
    const args = ['check', 'https://192.0.2.1/webhooks'];
    const env = { WEBHOOK_SECRET: SECRET };
    const asked = spawnInTerminal(80, args, { env });
    await asked.says('stdout', '[y/N]');
    asked.child.stdin.write('n\n');
    const { status, stdout } = await asked.ended;
    expect([status, stdout]).toEqual([2, expect.stringContaining('Nothing was sent.')]);
  });
});
