import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadFixture, shippedFixtures } from 'storefront-webhooks/testing';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const readme = readFileSync('README.md', 'utf8');
const docs = readdirSync('docs').filter((file) => file.endsWith('.md'));

function blocks(language: string, text = readme): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms');
  return Array.from(text.matchAll(fence), ([, code = '']) => code);
}

/** Compiles each example as a module of this repository, and gives the complaints about each. */
function compile(examples: readonly string[]): string[][] {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, resolve('.'));
  const options = { ...parsed.options, noUnusedLocals: false };
  const files = new Map(
    examples.map((code, index) => [resolve(`example-${index}.ts`), `${code}\nexport {};`]),
  );
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  const program = ts.createProgram(
    [...files.keys(), resolve('test/readme/reader.d.ts'), resolve('test/examples/globals.d.ts')],
    options,
    host,
  );
  return Array.from(files.keys(), (file) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  );
}

describe('every example in the README and the docs', () => {
  test('compiles, and a mistake would be noticed', { timeout: 60_000 }, () => {
    const texts = docs.map((file) => readFileSync(join('docs', file), 'utf8'));
    const examples = [readme, ...texts].flatMap((text) => blocks('ts', text));
    expect(examples.length).toBeGreaterThan(10);
    const mistakes = [
      "receiver.on('order:piad', () => {});",
      "receiver.on('order:paid', ({ payload }) => log(payload.emial));",
    ];
    const complaints = compile([...examples, ...mistakes]);
    const [first = [], second = []] = complaints.splice(examples.length);
    expect(complaints).toEqual(examples.map(() => []));
    expect(first).toHaveLength(1);
    expect(second).toHaveLength(1);
  });

  test.each(blocks('sh'))('names scripts that exist: %s', (commands) => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const named = commands.matchAll(/npm (?:run )?(\w[\w-]*)/g);
    for (const [, script = ''] of named) expect(['ci', ...Object.keys(scripts)]).toContain(script);
  });

  test('of a fixture can be loaded', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fixtures-'));
    try {
      const [whole = '', variant = ''] = blocks('json');
      writeFileSync(join(folder, 'default.hook.json'), whole);
      writeFileSync(join(folder, 'refunded.hook.json'), variant);
      const { body, expect: expected } = loadFixture(join(folder, 'refunded.hook.json'));
      expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({ id: 'ord_7', status: 56 });
      expect(expected).toEqual({ status: 200, outcome: 'handled' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('the number of shipped deliveries is as the README says', () => {
  expect(readme).toContain('More than 70 deliveries ship');
  expect(shippedFixtures().length).toBeGreaterThan(70);
});
