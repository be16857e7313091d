import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AxeResults } from 'axe-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startChromium, withChromium } from '../support/chromium.js';
import { run, runInTerminal } from './command.js';

const env = { NO_COLOR: '1' };

/** Plays a drill, and gives the page that it writes. */
async function writePage(orders: number) {
  const folder = mkdtempSync(join(tmpdir(), 'drill-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const html = join(folder, 'drill.html');
  const played = await run(['drill', '--orders', `${orders}`, '--html', html], { env });
  return { ...played, html };
}

describe('storefront-webhooks drill', () => {
  test('plays three days, and writes a page that needs nothing from elsewhere', async () => {
    const { status, records, html } = await writePage(260);
    expect(status).toBe(0);
    expect(records().at(-1)).toEqual({ paid: 260, once: 260, missing: 0, twice: 0, findings: 0 });
    const acts = records().map(({ what }) => what);
    expect(acts).toContain('the provider disables the endpoint');
    const page = readFileSync(html, 'utf8');
    expect(page).toContain('<strong>260 paid, 260 delivered once, 0 missing, 0 twice</strong>');
    expect(page.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|src=/);
  });

  test('says in a terminal how it stands', async () => {
    const { lines } = await runInTerminal(80, ['drill', '--orders', '260'], {
      env,
      hasErrors: false,
    });
    expect(lines.every(({ length }) => length <= 80)).toBe(true);
    expect(lines[0]).toBe(
      'day 1, 00 h  the shop opens                         0 paid, none missing',
    );
    expect(lines.at(-1)).toBe('260 paid, 260 delivered once, 0 missing, 0 twice');
  });

  withChromium('its page in Chromium', () => {
    test('is read on a telephone, by day and at night', async () => {
      const { html } = await writePage(60);
      const browser = await startChromium();
      onTestFinished(() => browser.close());
      const axe = readFileSync(
        createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
        'utf8',
      );
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({ viewport: { width: 360, height: 700 }, colorScheme });
        await page.goto(pathToFileURL(html).href);
        await page.evaluate(axe);
        const { violations } = await page.evaluate<AxeResults>('axe.run()');
        expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
        const smallest = await page.evaluate<number>(
          "Math.min(...[...document.querySelectorAll('text')].map((text) => text.getBoundingClientRect().height))",
        );
        expect(smallest).toBeGreaterThan(9);
      }
    });
  });
});
