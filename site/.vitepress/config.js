import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { defineConfig } from 'vitepress';

const root = resolve(import.meta.dirname, '../..');
const pages = resolve(import.meta.dirname, '../pages');

// As they are: pages outside of this folder would find no vue.
rmSync(pages, { recursive: true, force: true });
for (const path of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs']) {
  cpSync(join(root, path), join(pages, path), { recursive: true });
}

const readme = readFileSync(join(pages, 'README.md'), 'utf8');
const linked = (text) =>
  Array.from(text.matchAll(/\((docs\/[\w-]+\.md)\)/g), ([, path = '']) => path);
/** In the order in which README.md asks its questions, and what else it names. */
const questions = new Set([
  ...linked(readme.slice(readme.indexOf('## Which page'))),
  ...linked(readme),
]);

export default defineConfig({
  srcDir: 'pages',
  rewrites: { 'README.md': 'index.md', 'docs/api/README.md': 'docs/api/index.md' },
  outDir: 'dist',
  cleanUrls: true,
  title: 'storefront-webhooks',
  description: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).description,
  markdown: { config: showAsText },
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/docs/start' },
      { text: 'Reference', link: '/docs/api/' },
    ],
    sidebar: [
      { text: 'Questions', items: Array.from(questions, toItem) },
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

/** The site has the pages alone: a link to anything else, such as an example, is shown as text. */
function showAsText(md) {
  const leadsOut = (href, { relativePath = '' }) =>
    !/^(https:|#)/.test(href) &&
    (!/\.md(#|$)/.test(href) || join(dirname(relativePath), href).startsWith('examples/'));
  md.core.ruler.push('pages_alone', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isText = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') isText = leadsOut(token.attrGet('href') ?? '', env);
        if (isText && token.type.startsWith('link_'))
          Object.assign(token, { type: 'text', content: '' });
      }
    }
  });
}
