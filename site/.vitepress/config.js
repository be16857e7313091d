import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineConfig } from 'vitepress';
import { extend } from './markdown.js';

const root = resolve(import.meta.dirname, '../..');
const pages = resolve(import.meta.dirname, '../pages');

// Copy the pages into this folder, because pages outside of it could not import vue.
rmSync(pages, { recursive: true, force: true });
for (const path of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs']) {
  cpSync(join(root, path), join(pages, path), { recursive: true });
}

/** The groups of the sidebar, by what a reader is doing. `npm test` fails if a page is missing. */
const groups = JSON.parse(readFileSync(join(import.meta.dirname, 'sidebar.json'), 'utf8'));

export default defineConfig({
  srcDir: 'pages',
  rewrites: { 'README.md': 'index.md', 'docs/api/README.md': 'docs/api/index.md' },
  outDir: 'dist',
  title: 'storefront-webhooks',
  description: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).description,
  markdown: { config: extend },
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/docs/start' },
      { text: 'Reference', link: '/docs/api/' },
    ],
    sidebar: [
      ...Object.entries(groups).map(([text, paths]) => ({ text, items: paths.map(toItem) })),
      { text: 'Recipes', collapsed: true, items: itemsOf('docs/recipes') },
      { text: 'Reference', collapsed: true, items: itemsOf('docs/api') },
    ],
  },
});

function toItem(path) {
  const [, title = path] = /^# (.*)$/m.exec(readFileSync(join(pages, path), 'utf8')) ?? [];
  return { text: title, link: `/${path.replace(/(README)?\.md$/, '')}` };
}

function itemsOf(folder) {
  return readdirSync(join(pages, folder))
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => toItem(`${folder}/${file}`));
}
