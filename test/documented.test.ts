import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { entryPoints } from '../tsup.config.js';

const ENTRIES = Object.entries(entryPoints).map(([subpath, file]) => ({
  subpath,
  file: join(import.meta.dirname, '..', file),
}));
const program = ts.createProgram(
  ENTRIES.map(({ file }) => file),
  { noEmit: true, module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 },
);
const checker = program.getTypeChecker();

/** What an entry point exports, by the declaration behind each name. */
function exportsOf(file: string): ts.Symbol[] {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const exported = module ? checker.getExportsOfModule(module) : [];
  return exported.map((symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
  );
}

const commentOf = (symbol: ts.Symbol) =>
  ts.displayPartsToString(symbol.getDocumentationComment(checker));

test.each(ENTRIES)('every public name of $subpath has a doc comment', ({ file }) => {
  const exported = exportsOf(file);
  expect(exported).not.toEqual([]);
  const bare = exported.filter((symbol) => commentOf(symbol) === '');
  expect(bare.map(({ name }) => name)).toEqual([]);
});

test.each(ENTRIES)('every option of $subpath says what it is without', ({ file }) => {
  const options = exportsOf(file)
    .filter(({ name }) => name.endsWith('Options'))
    .flatMap((symbol) => checker.getDeclaredTypeOfSymbol(symbol).getProperties());
  const silent = options.filter((option) => {
    const isOptional = (option.flags & ts.SymbolFlags.Optional) !== 0;
    return (
      commentOf(option) === '' || (isOptional && !/Default|Without it/.test(commentOf(option)))
    );
  });
  expect(silent.map(({ name }) => name)).toEqual([]);
});

/** A doc comment as a line of a table. */
const cell = (text: string) =>
  text
    .replace(/\{@link (?:\w+\.)?(\w+) ?\}/g, '`$1`')
    .replace(/\s+/g, ' ')
    .replaceAll('|', '\\|');

const PUBLIC = ['index', 'goods', 'api', 'recovery', 'sandbox', 'testing'].flatMap((name) =>
  exportsOf(join(import.meta.dirname, '..', entryPoints[name] ?? '')),
);

function declarationOf(name: string): ts.Declaration {
  const [declaration] = PUBLIC.find((symbol) => symbol.name === name)?.declarations ?? [];
  if (!declaration) throw new Error(`${name} is not exported`);
  return declaration;
}

function optionsTable(type: string, left: readonly string[] = []): string {
  const options = checker
    .getTypeAtLocation(declarationOf(type))
    .getProperties()
    .filter(({ name }) => !left.includes(name));
  const rows = options.map((option) => {
    const isOptional = (option.flags & ts.SymbolFlags.Optional) !== 0;
    return `| \`${option.name}\`${isOptional ? '' : ', required'} | ${cell(commentOf(option))} |`;
  });
  return ['| option | what it is |', '|---|---|', ...rows].join('\n');
}

function codesTable(name: string): string {
  const declaration = declarationOf(name);
  const source = declaration.getSourceFile().text;
  const body = source.slice(declaration.getStart(), declaration.getEnd());
  const rows = Array.from(
    body.matchAll(/\/\*\* (.*?) \*\/\s*\| '(\w+)'/gs),
    ([, comment = '', code]) => `| \`${code}\` | ${cell(comment)} |`,
  );
  expect(rows).toHaveLength(body.split("| '").length - 1);
  return ['| code | when it comes |', '|---|---|', ...rows].join('\n');
}

/** Why requests are refused: the table that they are answered from. */
function rejectionsTable(): string {
  const { text } = declarationOf('RejectionCode').getSourceFile();
  const [, table = ''] = /const REJECTIONS = \{(.*?)\} as const/s.exec(text) ?? [];
  const rows = Array.from(
    table.matchAll(/(\w+): \[(\d+), '(.*?)'\]/g),
    ([, code, status, message]) => `| \`${code}\` | ${status} | ${message} |`,
  );
  expect(rows).toHaveLength(table.trim().split('\n').length);
  return ['| code | status | what its sender is told |', '|---|---|---|', ...rows].join('\n');
}

test('docs/reference.md has every option and every code, as the doc comments say', async () => {
  const reference = `# Reference

What each option means, and when each error comes. Where a name says no unit, times are milliseconds and sizes are bytes.

## Options of createReceiver()

${optionsTable('ReceiverOptions')}

## Options of .on()

${optionsTable('HandlerOptions')}

For a handler with effects of its own, which also needs a name:

${optionsTable('EffectOptions', ['name', 'formerly', 'when', 'skipOlder'])}

## Options of confirmOrders()

${optionsTable('ConfirmOptions')}

## Options of close()

${optionsTable('CloseOptions')}

## Options of createGoods()

${optionsTable('GoodsOptions')}

Of \`verify\`, which is for what the provider's contract leaves open:

${optionsTable('GoodsVerifyOptions')}

## Hooks

${optionsTable('Hooks')}

## Options of memoryStore()

${optionsTable('MemoryStoreOptions')}

## Options of replay()

${optionsTable('ReplayManyOptions')}

## Options of createClient()

${optionsTable('ClientOptions')}

Each of its methods takes a \`signal\`. A list method takes:

${optionsTable('ListOptions')}

A method that sends parameters takes:

${optionsTable('SendOptions')}

## Options of recover()

${optionsTable('RecoverOptions')}

## Options of createSandbox()

${optionsTable('SandboxOptions')}

## Why a request is refused

\`hooks.onRejected\` is told one of these codes, and \`detail\`: what was seen, and what to change.

${rejectionsTable()}

## Mistakes in a program

A \`UsageError\` is thrown where the mistake is made, says what to change, and has one of these codes.

${codesTable('UsageErrorCode')}

## What goes wrong in service

A \`WebhookError\` is told to \`hooks.onError\`, or on stderr without it, and has one of these codes.

${codesTable('WebhookErrorCode')}

## What the provider refuses

A method of the client rejects with an \`ApiError\`, which has one of these codes.

${codesTable('ApiErrorCode')}

## What a customer is refused

In a sandbox, what its customers do rejects with a \`Refusal\`, which has one of these codes.

${codesTable('RefusalCode')}
`;
  await expect(reference).toMatchFileSnapshot('../docs/reference.md');
});
