import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PAGES } from '../../docs/pages.js';
import { startChromium, withChromium } from '../../support/chromium.js';

const DIST = 'site/dist';

/** A server for files and the index of a folder, without rewriting addresses. */
const server = createServer((request, response) => {
  const path = join(DIST, decodeURI(new URL(request.url ?? '', 'http://site').pathname));
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.html') : path;
  if (!existsSync(file)) return response.writeHead(404).end('not found');
  const type = TYPES[file.replace(/^.*\./, '')] ?? 'application/octet-stream';
  return response.writeHead(200, { 'Content-Type': type }).end(readFileSync(file));
});

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
};

/** Each width, with the smallest scale at which a drawing is readable: a phone shows it in its own size. */
const WIDTHS = [
  [1280, 0.6],
  [390, 1],
] as const;

const hrefsOf = (selector: string) =>
  `Array.from(document.querySelectorAll('${selector}'), ({ href }) => href)`;

/** Elements that are wider than their place. A drawing may be, if it scrolls instead of shrinking. */
const cutOffBelow = (smallest: number) => `(() => {
  const all = (selector) => Array.from(document.querySelectorAll('.vp-doc ' + selector));
  const isWide = (one) => one.scrollWidth > one.clientWidth + 1;
  const isScrolled = (one) => !isWide(one) || getComputedStyle(one).overflowX === 'auto';
  const { documentElement } = document;
  const isOutside = (one) => one.getBoundingClientRect().right > documentElement.clientWidth;
  const cut = ['pre[class]', 'table', 'td', 'th', 'div[class*=language-]']
    .flatMap(all)
    .filter((one) => isWide(one) || isOutside(one));
  const drawn = all('img').filter((one) => one.width < one.naturalWidth * ${smallest});
  const fixed = [...all('pre:not([class])'), ...all('p:has(> img)')].filter((one) => !isScrolled(one));
  const page = isWide(documentElement) ? [documentElement] : [];
  return [...cut, ...drawn, ...fixed, ...page].map(
    (one) => one.localName + ': ' + (one.alt ?? one.innerText).trim().slice(0, 60),
  );
})()`;

withChromium('the site in Chromium', () => {
  let browser: Browser;
  let origin = '';
  /** Elements that are cut off in a window of this width. */
  const cutOff = new Map<number, string[]>(WIDTHS.map(([width]) => [width, []]));
  /** The addresses of the pages and their links, as a browser resolves them. */
  const addresses = new Set<string>();

  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', 'site']);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startChromium();
    const page = await browser.newPage();
    await page.goto(origin);
    const pages = await page.evaluate<string[]>(hrefsOf('.VPSidebar a'));
    // The site has a page for CHANGELOG.md, but not for CONTRIBUTING.md and examples/.
    expect(new Set(pages).size).toBe(PAGES.length - 1);
    for (const address of pages) {
      await page.goto(address);
      await page.waitForFunction('Array.from(document.images).every(({ complete }) => complete)');
      for (const href of await page.evaluate<string[]>(hrefsOf('a[href]')))
        if (href.startsWith(origin)) addresses.add(href.replace(/#.*/, ''));
      for (const [width, smallest] of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const found = await page.evaluate<string[]>(cutOffBelow(smallest));
        cutOff.get(width)?.push(...found.map((one) => `${address.slice(origin.length)} ${one}`));
      }
    }
    await page.close();
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    server.close();
  });

  test.each(WIDTHS)('cuts off no code, table or drawing at %i px', (width) => {
    expect(cutOff.get(width)).toEqual([]);
  });

  test('has addresses that a plain file server can serve', async () => {
    const dead: string[] = [];
    for (const one of addresses) if ((await fetch(one)).status !== 200) dead.push(one);
    expect(dead).toEqual([]);
  });

  test('shows the same page when it is reloaded after following a link', async () => {
    const page = await browser.newPage();
    await page.goto(origin);
    await page.click('.vp-doc a[href*="start"]');
    await page.waitForURL(/start/);
    expect((await page.reload())?.status()).toBe(200);
    expect(await page.textContent('h1')).toContain('Start');
    await page.close();
  });
});
