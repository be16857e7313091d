import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AxeResults } from 'axe-core';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../cli/command.js';
import { startChromium, withChromium } from '../../support/chromium.js';

withChromium('the page of a drill in Chromium', () => {
  test('can be read on a phone, in a light and a dark scheme', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drill-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const html = join(folder, 'drill.html');
    await run(['drill', '--orders', '60', '--html', html], { env: { NO_COLOR: '1' } });
    const browser = await startChromium();
    onTestFinished(() => browser.close());
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
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
