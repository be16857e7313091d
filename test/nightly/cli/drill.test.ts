import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../cli/command.js';
import { violationsOf, withAxe } from '../../support/axe.js';
import { startChromium } from '../../support/chromium.js';

withAxe('the page of a drill in Chromium', () => {
  test('is read on a telephone, by day and at night', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drill-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const html = join(folder, 'drill.html');
    await run(['drill', '--orders', '60', '--html', html], { env: { NO_COLOR: '1' } });
    const browser = await startChromium();
    onTestFinished(() => browser.close());
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ viewport: { width: 360, height: 700 }, colorScheme });
      await page.goto(pathToFileURL(html).href);
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      const smallest = await page.evaluate<number>(
        "Math.min(...[...document.querySelectorAll('text')].map((text) => text.getBoundingClientRect().height))",
      );
      expect(smallest).toBeGreaterThan(9);
    }
  });
});
