import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shippedFixtures } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import { follow } from '../cli/process.js';
import { installed, withRuntimes } from '../runtimes/installed.js';
import { compileProgram } from '../support/program.js';

const ALL = shippedFixtures().length;
const ESCAPE = '\u001b';

/** Runs a command to its end. A terminal, if it has one, decides about colours. */
async function run(command: string, args: readonly string[], { env, stdio }: SpawnOptions = {}) {
  const { NO_COLOR, FORCE_COLOR, ...inherited } = process.env;
  const child = spawn(command, args, {
    env: { ...inherited, TERM: 'xterm', ...env },
    stdio: stdio ?? ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr, lines: stdout.trimEnd().split(/\r?\n/) };
}

const demo = async (flags: readonly string[] = [], file = 'examples/demo.ts') =>
  run(process.execPath, [await compileProgram(file, 'build'), ...flags]);

const inTerminal = async (columns: number, env = {}) => {
  // As a developer runs it: on a build server, CI would turn off the terminal's features.
  const person = 'unset CI; export TERM=xterm-256color';
  const command = `${person}; stty cols ${columns}; exec "${process.execPath}" "${await compileProgram('examples/demo.ts', 'build')}"`;
  return run('script', ['-qec', command, '/dev/null'], { env });
};

const STORY = [
  /^✓ product:dynamic 200 goods [\d.]+ Ada has paid: her key is made$/,
  /^✓ order:paid 200 handled [\d.]+ and she gets her mail$/,
  /^✓ order:paid 500 failed [\d.]+ Ben has paid; the mail server is down$/,
  /^✓ order:paid 200 handled [\d.]+ 10 s later, the delivery is retried$/,
  /^✓ order:paid 200 handled [\d.]+ Cem has paid, but our answer gets lost$/,
  /^✓ order:paid 200 duplicate [\d.]+ so it is retried: nothing is done twice$/,
  /^✓ order:paid 401 rejected [\d.]+ a paid order is forged$/,
];
const SOLD = '3 orders paid, 3 keys made, 3 mails sent.';

const rowsOf = (lines: readonly string[]) =>
  lines.filter((line) => /^[✓✗]/.test(line)).map((line) => line.replace(/ +/g, ' '));

describe('the demo', () => {
  test('sells, counts the saved deliveries, and exits', async () => {
    const { code, lines, stdout } = await demo();
    expect(code).toBe(0);
    expect(lines[0]).toMatch(/^The storefront is at http:\/\/127\.0\.0\.1:\d+\.$/);
    expect(lines[1]).toMatch(
      /^An Express shop with a SQLite store is at http:\/\/127\.0\.0\.1:\d+\.$/,
    );
    expect(rowsOf(lines)).toEqual(STORY.map((row) => expect.stringMatching(row)));
    expect(lines).toContain(SOLD);
    expect(lines).toContain(`${ALL} of ${ALL} saved deliveries answered as expected.`);
    expect(stdout).not.toContain(ESCAPE);
  });

  test('names the next steps, which exist', async () => {
    const { stdout } = await demo();
    const next = stdout.slice(stdout.indexOf('Next:'));
    const files = next.match(/examples\/[\w.]+/g) ?? [];
    expect(files).toEqual(['examples/express.ts', 'examples/README.md']);
    for (const file of files) expect(readFileSync(file, 'utf8')).not.toBe('');
    expect(next).toContain('npm run demo -- --all');
  });

  test('prints all deliveries in a table with --all', async () => {
    const { code, lines } = await demo(['--all']);
    expect(code).toBe(0);
    expect(lines).toContainEqual(
      expect.stringMatching(/^ +EVENT +ID +SIGNATURE +OUTCOME +STATUS +MS +DESCRIPTION$/),
    );
    const rows = rowsOf(lines);
    expect(rows).toHaveLength(STORY.length + ALL);
    for (const start of [
      '✓ order:paid whl_0001 valid handled 200',
      '✓ order:paid whl_0001 valid duplicate 200',
      '✓ order:paid whl_0038 REFUSED rejected 401',
      '✓ order:paid whl_0040 valid rejected 422',
      '✓ query:replied whl_0027 valid failed 500',
      '✓ query:replied whl_0027 valid handled 200',
      '✓ subscription:renewed whl_0031 valid ignored 200',
    ]) {
      expect(rows.filter((row) => row.startsWith(start))).not.toEqual([]);
    }
    // Some deliveries contain escape sequences.
    expect(lines.join('')).not.toContain(ESCAPE);
  });

  test('--help prints the usage', async () => {
    const { code, stdout } = await demo(['--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run demo \[-- --all\]\n/);
  });

  test('exits with 2 and one line for an unknown flag', async () => {
    for (const flags of [['--al'], ['all'], ['--all', '-v']]) {
      const { code, stdout, stderr } = await demo(flags);
      expect(code).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/^The demo does not know \S+: npm run demo -- --help .*\n$/);
    }
  });

  test('ends quietly if its reader closes the pipe', async () => {
    const file = await compileProgram('examples/demo.ts', 'build');
    const command = `"${process.execPath}" "${file}" --all | head -1; exit \${PIPESTATUS[0]}`;
    const { code, lines, stderr } = await run('bash', ['-c', command]);
    expect(lines).toHaveLength(1);
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/EPIPE|^ +at /m);
  });

  test.each([
    {
      where: 'fixtures',
      broken: ["'query:updated']", ']'],
      row: /^✗ query:updated whl_0028 valid ignored 200 /,
      told: `${ALL - 1} of ${ALL} saved deliveries answered as expected.`,
    },
    {
      where: 'sale',
      broken: ['onPaid(({', "on('order:created', ({"],
      row: /^✗ order:paid 200 ignored [\d.]+ and she gets her mail/,
      told: '3 orders paid, 3 keys made, 0 mails sent.',
    },
  ])(
    'exits with 1 if an answer of the $where is not the expected one, and names the delivery',
    async ({ where, broken: [right = '', wrong = ''], row, told }) => {
      const folder = mkdtempSync(join('test', 'demo-'));
      try {
        cpSync('examples/demo.ts', join(folder, 'demo.ts'));
        cpSync('examples/demo', join(folder, 'demo'), { recursive: true });
        const file = join(folder, 'demo', `${where}.ts`);
        const source = readFileSync(file, 'utf8');
        const broken = source.replace(right, wrong);
        expect(broken).not.toBe(source);
        writeFileSync(file, broken);
        const { code, lines } = await demo([], join(folder, 'demo.ts'));
        expect(code).toBe(1);
        expect(lines).toContain(told);
        expect(rowsOf(lines)).toContainEqual(expect.stringMatching(row));
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});

// The terminal comes from script, whose flags differ on other systems.
describe.skipIf(process.platform !== 'linux')('the demo in a terminal', () => {
  const COLOUR = new RegExp(`${ESCAPE}\\[\\d+m`, 'g');
  const plain = (lines: readonly string[]) => lines.map((line) => line.replace(COLOUR, ''));

  test.each([80, 0])('of %d columns has colours, and no line over 80', async (columns) => {
    const { code, stdout, lines } = await inTerminal(columns);
    expect(code).toBe(0);
    expect(stdout).toMatch(COLOUR);
    expect(rowsOf(plain(lines))).toEqual(STORY.map((row) => expect.stringMatching(row)));
    // The library's own lines are for a log.
    const own = plain(lines).filter((line) => !line.startsWith('storefront-webhooks: '));
    expect(own.filter((line) => line.length > 80)).toEqual([]);
    // The lines of the story are complete.
    expect(stdout).not.toContain('…');
  });

  test('that is narrow cuts the story to its width', async () => {
    const rows = plain((await inTerminal(60)).lines).filter((line) => line.startsWith('✓'));
    expect(rows.map((row) => row.length)).toEqual(rows.map(() => 60));
    expect(rows[0]).toMatch(/Ada has paid.*…$/);
  });

  test('has no colours with NO_COLOR', async () => {
    const { code, stdout } = await inTerminal(80, { NO_COLOR: '1' });
    expect(code).toBe(0);
    expect(stdout).not.toContain(ESCAPE);
  });
});

withRuntimes('the demo on Node 24', () => {
  test('stores its deliveries in SQLite', async () => {
    const program = await compileProgram('examples/demo.ts', 'build');
    const { status, stdout, stderr } = await follow([installed('node24/bin/node'), program], {})
      .ended;
    expect({ status, stack: stderr.match(/^ +at .*/m) }).toEqual({ status: 0, stack: null });
    expect(stderr).toContain('store: SQLite (webhooks.db)');
    expect(stdout).toContain('3 orders paid, 3 keys made, 3 mails sent.');
    const all = shippedFixtures().length;
    expect(stdout).toContain(`${all} of ${all} saved deliveries answered as expected.`);
  });
});
