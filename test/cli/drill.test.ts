import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
// The first test would otherwise spend most of its time on loading it, too.
import { isGood } from '../../src/cli/drill.js';
import { run, runInTerminal } from './command.js';

const env = { NO_COLOR: '1' };

describe('storefront-webhooks drill', () => {
  test('simulates three days, and writes a page without external resources', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drill-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const html = join(folder, 'drill.html');
    const { status, records } = await run(['drill', '--orders', '60', '--html', html], { env });
    expect(status).toBe(0);
    expect(records().at(-1)).toEqual({ paid: 60, once: 60, missing: 0, twice: 0, findings: 0 });
    const acts = records().map(({ what }) => what);
    expect(acts).toContain('the provider disables the endpoint');
    const page = readFileSync(html, 'utf8');
    expect(page).toContain('<strong>60 paid, 60 delivered once, 0 missing, 0 twice</strong>');
    expect(page.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|src=/);
  });

  test('takes an empty store, and leaves one in use alone, such as its own', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drill-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'shop.db');
    writeFileSync(file, '');
    const args = ['drill', '--orders', '60', '--store', file];
    expect((await run(args, { env })).records().at(-1)).toMatchObject({ once: 60, findings: 0 });
    const { status, stdout, stderr } = await run(args, { env });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Give --store an empty database of its own.');
  });

  test('does nothing if the page cannot be written', async () => {
    const args = ['drill', '--orders', '60', '--html', join(tmpdir(), 'no-such-folder', 'a.html')];
    const { status, stdout, stderr } = await run(args, { env });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^--html names a file that cannot be written: ENOENT/);
  });

  test('prints the counts in a terminal', async () => {
    const { lines } = await runInTerminal(80, ['drill', '--orders', '60'], {
      env,
      hasErrors: false,
    });
    expect(lines.every(({ length }) => length <= 80)).toBe(true);
    expect(lines[0]).toBe(
      'day 1, 00 h  the shop opens                         0 paid, none missing',
    );
    expect(lines.at(-1)).toBe('60 paid, 60 delivered once, 0 missing, 0 twice');
  });
});

test.each([
  [{ missing: 0, twice: 0, findings: 0 }, true],
  [{ missing: 1, twice: 0, findings: 0 }, false],
  [{ missing: 0, twice: 1, findings: 0 }, false],
  [{ missing: 0, twice: 0, findings: 1 }, false],
])(
  'a drill is good only if each order was delivered once, and nothing is left: %j',
  (counts, good) => {
    expect(isGood(counts)).toBe(good);
  },
);
