import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeReference } from '../../docs/reference.js';
import { compile } from '../../support/compile.js';
import { withInstalled } from '../../support/installed.js';

const written = new Map(
  readdirSync('docs/api').map((file) => [file, readFileSync(`docs/api/${file}`, 'utf8')]),
);

withInstalled('test/tools', 'docs/api/', () => {
  test('matches the doc comments (npm run reference)', { timeout: 300_000 }, () => {
    const pages = makeReference();
    expect([...written.keys()].sort()).toEqual([...pages.keys()].sort());
    for (const [file, text] of pages) {
      expect(written.get(file), file).toBe(text);
      expect(text).not.toContain(process.cwd());
    }
  });
});

interface Entry {
  readonly name: string;
  readonly from: string;
  readonly text: string;
  /** A function, a class or a variable, but not a type. */
  readonly isValue: boolean;
}

/** The text of docs/api/ for each public name. */
const entries: readonly Entry[] = [...written.values()].flatMap((page) => {
  const [, from = ''] = /^# (storefront-webhooks\S*)$/m.exec(page) ?? [];
  return page.split(/^## /m).flatMap((kind) =>
    kind
      .split(/^### /m)
      .slice(1)
      .map((text) => ({
        name: /^\w+/.exec(text)?.[0] ?? '',
        from,
        text,
        isValue: /^(Functions|Classes|Variables)\n/.test(kind),
      })),
  );
});

const reader = readFileSync('test/docs/reader.d.ts', 'utf8');

/** An example with the imports from this package that it omits. */
function complete(code: string, entry: Entry): string {
  const own = [entry, ...entries.filter(({ from }) => from === entry.from), ...entries];
  const missing = new Map<string, string>();
  for (const { name, from, isValue } of own) {
    const isUsed = new RegExp(`(?<!['.\\w])${name}\\b(?!['\\w])`).test(code);
    const isThere = new RegExp(`(const|class|type|interface|import \\{?) ${name}\\b`);
    if (!isUsed || missing.has(name) || isThere.test(code) || isThere.test(reader)) continue;
    missing.set(name, `import { ${isValue ? '' : 'type '}${name} } from '${from}';`);
  }
  return [...missing.values(), code].join('\n');
}

describe('each public name', () => {
  test('has an example if it is a value', () => {
    const bare = entries.filter(({ isValue, text }) => isValue && !/^#+ Examples?$/m.test(text));
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  test('has examples that compile', () => {
    const examples = entries.flatMap((entry) =>
      Array.from(
        entry.text.matchAll(
          /(?<=^#+ Examples?\n\n(?:```ts\n(?:(?!```).)*```\n\n)*)```ts\n(.*?)```/gms,
        ),
        ([, code = '']) => ({ entry: `${entry.from} ${entry.name}`, code: complete(code, entry) }),
      ),
    );
    expect(examples.length).toBeGreaterThan(90);
    const complaints = compile(
      [...examples.map(({ code }) => code), "receiver.on('order:piad', () => {});"],
      ['test/docs/reader.d.ts', 'test/examples/globals.d.ts'],
    );
    expect(complaints.pop()).toHaveLength(1);
    const wrong = examples.map(({ entry, code }, index) => ({
      entry,
      code,
      said: complaints[index],
    }));
    expect(wrong.filter(({ said }) => said?.length)).toEqual([]);
  });
});
