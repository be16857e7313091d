import { dirname, join } from 'node:path';

/** What the pages need here beside what VitePress makes of them. */
export function extend(md) {
  md.core.ruler.push('links', ({ tokens, env }) => fitLinks(tokens, env));
  md.core.ruler.push('cells_with_labels', ({ tokens }) => labelCells(tokens));
  md.core.ruler.push('drawings', ({ tokens }) => markDrawings(tokens));
}

/** The site has the pages alone: a link to anything else, such as an example, is shown as text. Its README.md is index.html. */
function fitLinks(tokens, { relativePath = '' }) {
  const leadsOut = (href) =>
    !/^(https:|#)/.test(href) &&
    (!/\.md(#|$)/.test(href) ||
      /^(examples\/|CONTRIBUTING\.md)/.test(join(dirname(relativePath), href)));
  for (const { children } of tokens) {
    let isText = false;
    for (const token of children ?? []) {
      if (token.type === 'link_open') {
        const href = token.attrGet('href') ?? '';
        isText = leadsOut(href);
        token.attrSet('href', href.replace(/README\.md/, 'index.md'));
      }
      if (isText && token.type.startsWith('link_'))
        Object.assign(token, { type: 'text', content: '' });
    }
  }
}

/** On a phone, a cell stands below the one before it, and says its column. */
function labelCells(tokens) {
  let heads = [];
  let column = 0;
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'thead_open') heads = [];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open')
      heads.push(tokens[at + 1].children.map(({ content }) => content).join(''));
    if (token.type === 'td_open') token.attrSet('data-label', heads[column++]);
  }
}

/** On a phone, a drawing is scrolled, also by keys. */
function markDrawings(tokens) {
  for (const [at, token] of tokens.entries()) {
    const [image, ...others] = tokens[at + 1]?.children ?? [];
    if (token.type !== 'paragraph_open' || image?.type !== 'image' || others.length > 0) continue;
    token.attrSet('class', 'drawing');
    token.attrSet('tabindex', '0');
  }
}
