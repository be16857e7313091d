import { html, raw } from 'hono/html';
import MarkdownIt from 'markdown-it';
import type { Html } from './page.js';

/** Supports only the syntax named here. Everything else is text, including HTML. */
const markdown = new MarkdownIt('zero').enable([
  ...['heading', 'lheading', 'list', 'code', 'fence', 'reference'],
  ...['newline', 'escape', 'entity', 'emphasis', 'backticks', 'link', 'autolink'],
]);
markdown.validateLink = (address) => /^(https?:\/\/|mailto:)/i.test(address);

/** The longest text that is rendered. Longer text would take seconds, and no real description has it. */
const MOST = 50_000;

/** Renders Markdown as safe HTML, with its headings one level below the page's own. */
export function showMarkdown(text: string): Html {
  if (text.length > MOST) return html`<p class="text">${text}</p>`;
  const tokens = markdown.parse(text, {});
  let level = 1;
  for (const token of tokens) {
    if (token.type === 'heading_open') level = Math.min(Number(token.tag[1]) + 1, level + 1, 6);
    if (token.type.startsWith('heading_')) token.tag = `h${level}`;
  }
  return raw(markdown.renderer.render(tokens, markdown.options, {}));
}
