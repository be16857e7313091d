import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { entryPoints } from '../../tsup.config.js';

const ENTRIES = Object.entries(entryPoints).map(([subpath, file]) => ({
  subpath,
  file: join(import.meta.dirname, '../..', file),
}));
const program = ts.createProgram(
  ENTRIES.map(({ file }) => file),
  { noEmit: true, module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 },
);
const checker = program.getTypeChecker();

/** The exports of an entry point, by their declarations. */
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

test.each(ENTRIES)('every option of $subpath states its default', ({ file }) => {
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

/** Returns a doc comment as the text of a table cell. */
const cell = (text: string) =>
  text
    .replace(/\{@link (?:\w+\.)?(\w+) ?\}/g, '`$1`')
    .replace(/^ +\* /gm, '')
    .replace(/\s+/g, ' ')
    .replace(/\bdocs\/([\w-]+\.md)(#[\w-]+)?/g, '[$1]($1$2)')
    .replaceAll('|', '\\|')
    .trim();

const PUBLIC = ['index', 'goods', 'api', 'recovery', 'sandbox', 'testing', 'opentelemetry'].flatMap(
  (name) => exportsOf(join(import.meta.dirname, '../..', entryPoints[name] ?? '')),
);

function declarationOf(name: string): ts.Declaration {
  const [declaration] = PUBLIC.find((symbol) => symbol.name === name)?.declarations ?? [];
  if (!declaration) throw new Error(`${name} is not exported`);
  return declaration;
}

const MAX_TYPE = 70;

/** Returns a type as written in the code, or its kind if it is long. */
function typeOf(option: ts.Symbol): string {
  const declaration = option.valueDeclaration;
  if (!declaration) throw new Error(`${option.name} is declared nowhere`);
  const isMethod = ts.isMethodSignature(declaration);
  const written =
    !isMethod && ts.isPropertySignature(declaration) ? (declaration.type?.getText() ?? '') : '';
  const isFunction = isMethod || /^\(.*\) =>/s.test(written);
  const text = isFunction
    ? 'function'
    : written.replace(/\s+/g, ' ').replace(/^\| |(?<=\w) \| undefined$/g, '');
  if (text === '' || text.length > MAX_TYPE)
    throw new Error(`the type of ${option.name} is too long for a table: ${text}`);
  return `\`${text.replaceAll('|', '\\|')}\``;
}

/** Returns the default of an option: the sentence of its comment that states it. */
const DEFAULT = /(?:^| )(?:Default:? (.*?)|(Without it, .*?))\.(?= [A-Z`]|$)/s;

function optionRow(option: ts.Symbol): string {
  const comment = commentOf(option).replace(/\s+/g, ' ');
  const isOptional = (option.flags & ts.SymbolFlags.Optional) !== 0;
  const [sentence = '', value, without] = DEFAULT.exec(comment) ?? [];
  const fallback = isOptional ? (value ?? without ?? '') : 'required';
  const rest = isOptional ? comment.replace(sentence, '') : comment;
  const columns = [`\`${option.name}\``, typeOf(option), cell(fallback), cell(rest)];
  return `| ${columns.join(' | ')} |`;
}

function optionsTable(type: string, left: readonly string[] = []): string {
  const options = checker
    .getTypeAtLocation(declarationOf(type))
    .getProperties()
    .filter(({ name }) => !left.includes(name));
  return [
    '| option | type | default | what it is |',
    '|---|---|---|---|',
    ...options.map(optionRow),
  ].join('\n');
}

const TO_DO = ' To do: ';

/** Returns the rows of a table of codes, each with an anchor. Its comment states the cause and the next step. */
function codeRow(anchor: string, code: string, comment: string, more: string[] = []): string {
  const [when, toDo = ''] = cell(comment).split(TO_DO);
  expect(toDo, `${code} says what to do`).not.toBe('');
  const last = `${toDo.charAt(0).toUpperCase()}${toDo.slice(1)}`;
  return `| ${[`<a id="${anchor}"></a>\`${code}\``, ...more, when, last].join(' | ')} |`;
}

function codesTable(name: string, prefix = ''): string {
  const declaration = declarationOf(name);
  const source = declaration.getSourceFile().text;
  const body = source.slice(declaration.getStart(), declaration.getEnd());
  const rows = Array.from(
    body.matchAll(/\/\*\*((?:(?!\*\/).)*)\*\/\s*\| '(\w+)'/gs),
    ([, comment = '', code = '']) => codeRow(`${prefix}${code}`, code, comment),
  );
  expect(rows).toHaveLength(body.split("| '").length - 1);
  return ['| code | when it comes | what to do |', '|---|---|---|', ...rows].join('\n');
}

/** The reasons of rejections: the table from which they are answered. */
function rejectionsTable(): string {
  const { text } = declarationOf('RejectionCode').getSourceFile();
  const [, table = ''] = /const REJECTIONS = \{(.*?)\} as const/s.exec(text) ?? [];
  const rows = Array.from(
    table.matchAll(/\/\*\*((?:(?!\*\/).)*)\*\/\s*(\w+): \[(\d+), '(.*?)'\]/gs),
    ([, comment = '', code = '', status = '']) => codeRow(code, code, comment, [status]),
  );
  expect(rows).toHaveLength(table.match(/^ {2}\w+: \[/gm)?.length ?? 0);
  return ['| code | status | when it comes | what to do |', '|---|---|---|---|', ...rows].join(
    '\n',
  );
}

const CALL = ['signal', 'timeout', 'retries', 'onAttempt'];

test('docs/options.md has every option with its type and default, from the doc comments', async () => {
  const page = `# Options

This page lists each option with its type, its default and its meaning. Times are milliseconds and sizes are bytes, unless the name of the option has a unit. An unknown option throws a \`UsageError\`.

## Options of createReceiver()

${optionsTable('ReceiverOptions')}

## Options of .onPaid()

${optionsTable('PaidOptions')}

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

Options of \`verify\`, which describe how the provider calls, because its contract leaves that open:

${optionsTable('GoodsVerifyOptions')}

## Hooks

${optionsTable('Hooks')}

## Options of memoryStore()

${optionsTable('MemoryStoreOptions')}

## Options of replay()

${optionsTable('ReplayManyOptions')}

## Options of createClient()

${optionsTable('ClientOptions')}

Each method takes:

${optionsTable('CallOptions')}

A list method also takes:

${optionsTable('ListOptions', CALL)}

A method that sends parameters also takes:

${optionsTable('SendOptions', CALL)}

## Options of recover()

${optionsTable('RecoverOptions')}

## Options of createSandbox()

${optionsTable('SandboxOptions')}

## Options of openTelemetry()

${optionsTable('OpenTelemetryOptions')}
`;
  await expect(page).toMatchFileSnapshot('../../docs/options.md');
});

test('docs/errors.md has every code with its cause and the next step, from the doc comments', async () => {
  const page = `# Errors

This page explains the code of each error: when it occurs, and what to do. Each message ends with a link to its place here, such as \`See node_modules/storefront-webhooks/docs/errors.md#secret_invalid\`. Codes never change: match on the code, not on the message.

## Why a request is refused

\`hooks.onRejected\` gets one of these codes, and \`detail\`: what the receiver saw, and what to change. Without that hook, the receiver logs them on stderr. The sender gets only the status and a short message: [answers.md](answers.md).

${rejectionsTable()}

## Mistakes in a program

The call that contains the mistake throws a \`UsageError\`. Its message names what to change, and it has one of these codes.

${codesTable('UsageErrorCode')}

## What goes wrong in service

\`hooks.onError\` gets a \`WebhookError\`, which has one of these codes. Without that hook, the receiver logs it on stderr.

${codesTable('WebhookErrorCode')}

## What the provider refuses

If a call to the provider fails, the client's method rejects with an \`ApiError\`, which has one of these codes.

${codesTable('ApiErrorCode', 'api-')}

## What a customer is refused

In a sandbox, an action of a customer that is not allowed rejects with a \`Refusal\`, which has one of these codes.

${codesTable('RefusalCode', 'refusal-')}
`;
  await expect(page).toMatchFileSnapshot('../../docs/errors.md');
});
