import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { withChromium } from './chromium.js';
import { withInstalled } from './installed.js';

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** Tests in a real browser that also need axe-core, which `npm run tools` installs. */
export const withAxe = (name: string, tests: () => void): void =>
  withInstalled('test/tools', 'axe-core', () => withChromium(name, tests));

/** Returns the rules of accessibility that a page breaks, each with the first element that does. */
export async function violationsOf(page: Page): Promise<[rule: string, element?: string][]> {
  await page.evaluate(readFileSync('test/tools/node_modules/axe-core/axe.min.js', 'utf8'));
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.map(({ id, nodes: [first] }) => (first ? [id, first.html] : [id]));
}
