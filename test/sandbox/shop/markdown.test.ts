import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { showMarkdown } from '../../../src/sandbox/shop/markdown.js';
import { runs } from '../../support/tier.js';
import { TUNER } from '../seller.js';
import { openVisitor } from './visitor.js';

const show = (text: string) => String(showMarkdown(text)).trim();

test('[spec: Product] description: raw markdown, rendered as HTML', async () => {
  const { client, get } = await openVisitor();
  const description =
    '# Sounds\n\nTunes **guitars**, in [all keys](https://me.example).\n\n- six\n- twelve';
  const { id } = await client.products.create({ ...TUNER, description });
  const { html } = await get(`/shop/alpha/product/${id}`);
  expect(html).toContain('<h2>Sounds</h2>');
  expect(html).toContain(
    'Tunes <strong>guitars</strong>, in <a href="https://me.example">all keys</a>.',
  );
  expect(html).toMatch(/<ul>\s*<li>six<\/li>\s*<li>twelve<\/li>\s*<\/ul>/);
  expect((await client.products.get(id)).description).toBe(description);
});

describe('a description', () => {
  test.each([
    [
      'emphasis',
      '*a* and _b_ and ***c***',
      '<p><em>a</em> and <em>b</em> and <em><strong>c</strong></em></p>',
    ],
    ['paragraphs', 'a\nb\n\nc  \nd', '<p>a\nb</p>\n<p>c<br>\nd</p>'],
    [
      'code',
      '`a < b`\n\n```\n<b>\n```',
      '<p><code>a &lt; b</code></p>\n<pre><code>&lt;b&gt;\n</code></pre>',
    ],
    ['a numbered list', '1. a\n2. b', '<ol>\n<li>a</li>\n<li>b</li>\n</ol>'],
    ['a list in a list', '- a\n  - b', '<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>'],
    [
      'links',
      '[a](https://a.example) <mailto:b@c.example>',
      '<p><a href="https://a.example">a</a> <a href="mailto:b@c.example">mailto:b@c.example</a></p>',
    ],
    ['escaped characters', '\\*a\\* &amp;', '<p>*a* &amp;</p>'],
    [
      'headings of consecutive levels',
      '### a\n\n###### b\n\n# c',
      '<h2>a</h2>\n<h3>b</h3>\n<h2>c</h2>',
    ],
  ])('may contain %s', (_, text, html) => {
    expect(show(text)).toBe(html);
  });

  test.each([
    '[a](javascript:alert\\(1\\))',
    '[a](JaVaScRiPt:x)',
    '[a](&#106;avascript:x)',
    '[a](java&Tab;script:x)',
    '[a](data:text/html,x)',
    '[a](vbscript:x)',
    '[a](//elsewhere.example)',
    '[a](/shop/other)',
    '<javascript:x>',
    '[a]: javascript:x\n\n[a]',
  ])('links only to http, https and mailto: %s', (text) => {
    expect(show(text)).not.toContain('<a');
  });

  test.each([
    ['<b>a</b>', '<p>&lt;b&gt;a&lt;/b&gt;</p>'],
    ['<script>a</script>', '<p>&lt;script&gt;a&lt;/script&gt;</p>'],
    ['<!-- a -->', '<p>&lt;!-- a --&gt;</p>'],
    ['&lt;img src=x&gt;', '<p>&lt;img src=x&gt;</p>'],
    ['> a', '<p>&gt; a</p>'],
    ['| a |\n|---|', '<p>| a |\n|---|</p>'],
    ['https://a.example', '<p>https://a.example</p>'],
  ])('shows any other markup as text: %j', (text, html) => {
    expect(show(text)).toBe(html);
  });

  const PIECES = [
    ...[
      '<script>',
      '<img src=x onerror=y>',
      '"',
      "'",
      '`',
      '```',
      '*',
      '**',
      '_',
      '[',
      ']',
      '(',
      ')',
      '!',
      '#',
    ],
    ...[
      '[a](',
      'https://a.example',
      'javascript:',
      'data:',
      '<',
      '>',
      '&',
      '&#60;',
      '&quot;',
      '\\',
      '\n',
      '\n\n',
      '- ',
    ],
    ...['    ', ' ', 'a', '\0', '\u202e', '"onclick="', '[a]: ', "'>"],
  ];
  const TAG = /^<\/?(p|h[2-6]|strong|em|ul|ol|li|br|code|pre)>$/;
  const CODE = /^<code class="language-[^"<>]*">$/;
  const LIST = /^<ol start="\d+">$/;
  // An empty address links to the page itself.
  const LINK = /^<a href="(|(https?:\/\/|mailto:)[^"<>]*)"( title="[^"<>]*")?>$|^<\/a>$/i;

  test('renders to the allowed HTML only, for any input', () => {
    const text = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string()), { maxLength: 30 });
    fc.assert(
      fc.property(text, (pieces) => {
        const html = show(pieces.join(''));
        const tags = html.match(/<[^>]*>?/g) ?? [];
        const strange = tags.filter(
          (tag) => ![TAG, CODE, LIST, LINK].some((known) => known.test(tag)),
        );
        expect(strange).toEqual([]);
      }),
      { numRuns: runs(20_000) },
    );
  });

  test('is shown as plain text if it is too long to parse', () => {
    expect(show(`${'*a* '.repeat(12_500)}<b>`)).toMatch(
      /^<p class="text">\*a\* [\s\S]*&lt;b&gt;<\/p>$/,
    );
  });
});
