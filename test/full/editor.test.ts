import { join, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { operations } from '../../src/api/endpoints.js';
import { toOpenApi } from '../../src/api/openapi/document.js';

// An editor shows the shipped declarations, which lose the comments of inferred types.

const ROOT = resolve(import.meta.dirname, '../..');
/** The folder of the declarations, in which their imports resolve. */
const SHIPPED = join(ROOT, 'shipped');
const PROBE = join(SHIPPED, 'probe.ts');
const VARIANTS = ['newer', 'older'] as const;

const options: ts.CompilerOptions = {
  strict: true,
  skipLibCheck: true,
  types: ['node'],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};

/** The files of an editor: the files on disk, the declarations, and a program that uses them. */
const files = new Map<string, string>();

function declare(): void {
  const sources = ['src/index.ts', 'src/api/index.ts'].map((file) => join(ROOT, file));
  const emitted = { declaration: true, emitDeclarationOnly: true, outDir: SHIPPED, rootDir: ROOT };
  const program = ts.createProgram(sources, { ...options, ...emitted });
  program.emit(undefined, (file, text) => files.set(resolve(file), text));
}

const RECORDS = Object.keys(Object(toOpenApi().components).schemas).filter(
  (name) => !name.endsWith('Error'),
);

/** The names of the parameter types, by operation and variant. */
const sent = operations.flatMap(([operation, { kind }]) =>
  kind === 'create' || kind === 'update'
    ? VARIANTS.map((variant) => ({
        operation,
        variant,
        type: `${operation}.${variant}`.replaceAll('.', '_'),
        at: kind === 'create' ? 0 : 1,
      }))
    : [],
);

declare();
const lines = [
  "import { createClient, type Client } from './src/api/index.js';",
  `import type { ${RECORDS.join(', ')} } from './src/index.js';`,
  ...RECORDS.map((name) => `export type Record${name} = ${name};`),
  ...sent.map(({ operation, variant, type, at }) => {
    const [group, method] = operation.split('.');
    return `export type ${type} = Parameters<Client<'${variant}'>['${group}']['${method}']>[${at}];`;
  }),
  "const client = createClient({ baseUrl: '', auth: { accessToken: '' } });",
  "client.webhookEndpoints.create({ url: '', events: ['|event'] });",
  "client.payments.create({ white_label: true, gateway: '|gateway' });",
];
files.set(PROBE, lines.join('\n'));

const service = ts.createLanguageService({
  getCompilationSettings: () => ({ ...options, noEmit: true }),
  getScriptFileNames: () => [PROBE],
  getScriptVersion: () => '1',
  getScriptSnapshot(file) {
    const text = files.get(file) ?? ts.sys.readFile(file);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => ROOT,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  readFile: (file) => files.get(file) ?? ts.sys.readFile(file),
  fileExists: (file) => files.has(file) || ts.sys.fileExists(file),
  directoryExists: (folder) => folder.startsWith(SHIPPED) || ts.sys.directoryExists(folder),
});
const checker = service.getProgram()?.getTypeChecker();

/** The comments of the fields of a type of the probe, at these paths of a schema. */
function commentsOf(name: string, paths: readonly string[]): Record<string, string> {
  const source = service.getProgram()?.getSourceFile(PROBE);
  const module = source && checker?.getSymbolAtLocation(source);
  const symbol = module?.exports?.get(ts.escapeLeadingUnderscores(name));
  if (!checker || !symbol) throw new Error(`the probe has no ${name}`);
  const root = checker.getDeclaredTypeOfSymbol(symbol);
  return Object.fromEntries(paths.map((path) => [path, commentAt(root, path.split('.'))]));
}

function commentAt(type: ts.Type, [name = '', ...rest]: readonly string[]): string {
  if (!checker) throw new Error('there is no program');
  const element = checker.getIndexTypeOfType(type, ts.IndexKind.Number);
  const inside = checker.isArrayType(type) && element ? element : type;
  const parts = inside.isUnion() ? inside.types : [inside];
  const [field] = parts.flatMap((part) => part.getProperty(name) ?? []);
  if (!field) return `no field ${name}`;
  if (rest.length > 0) {
    return commentAt(checker.getNonNullableType(checker.getTypeOfSymbol(field)), rest);
  }
  return ts.displayPartsToString(field.getDocumentationComment(checker)).replace(/\s+/g, ' ');
}

/** The descriptions of a schema's fields by path, including inline schemas. */
function descriptionsOf(schema: unknown, path = ''): [string, string][] {
  const { properties = {}, items, oneOf = [] } = Object(schema);
  return [
    ...Object.entries(properties).flatMap(([name, field]): [string, string][] => [
      [path + name, Object(field).description ?? ''],
      ...descriptionsOf(field, `${path}${name}.`),
    ]),
    ...(items ? descriptionsOf(items, path) : []),
    ...oneOf.flatMap((one: unknown) => descriptionsOf(one, path)),
  ];
}

/** The document's descriptions of an operation's parameters. */
function parametersOf(operation: string, variant: (typeof VARIANTS)[number]): [string, string][] {
  const rows = Object.values(Object(toOpenApi({ variant }).paths)).flatMap((methods) =>
    Object.values(Object(methods)),
  );
  const row = rows.find((one) => Object(one).operationId === operation);
  const { content } = Object(row).requestBody;
  return descriptionsOf(content['application/x-www-form-urlencoded'].schema);
}

test('descriptions.json has the comment of each field of a record and of a payment', async () => {
  const schemas = Object(Object(toOpenApi().components).schemas);
  const descriptions = Object.fromEntries(
    RECORDS.map((name) => {
      const paths = descriptionsOf(schemas[name]).map(([path]) => path);
      return [name, commentsOf(`Record${name}`, paths)];
    }),
  );
  const paths = parametersOf('payments.create', 'newer').map(([path]) => path);
  const all = { ...descriptions, NewPayment: commentsOf('payments_create_newer', paths) };
  for (const comments of Object.values(all)) {
    for (const [path, comment] of Object.entries(comments)) expect(comment, path).toMatch(/\.$/);
  }
  const file = '../../src/api/openapi/descriptions.json';
  await expect(`${JSON.stringify(all, null, 2)}\n`).toMatchFileSnapshot(file);
});

test.each(sent)(
  'each parameter of $operation in the $variant variant has the same comment as in the document',
  ({ operation, variant, type }) => {
    const described = Object.fromEntries(parametersOf(operation, variant));
    expect(Object.keys(described)).not.toEqual([]);
    expect(commentsOf(type, Object.keys(described))).toEqual(described);
    for (const description of Object.values(described)) expect(description).toMatch(/\.$/);
  },
);

test('a file has the same comments inside other records', () => {
  const paths = ['url', 'metadata.size'];
  const own = commentsOf('RecordStoredFile', paths);
  for (const record of ['RecordNewerProduct', 'RecordOlderProduct', 'RecordCategory']) {
    const held = commentsOf(record, ['image.url', 'image.metadata.size']);
    expect(Object.values(held), record).toEqual(Object.values(own));
  }
});

test.each([
  ['event', ['order:paid', 'query:updated']],
  ['gateway', ['paypal', 'bitcoin_cash']],
])('an editor completes the %s', (what, names) => {
  const position = files.get(PROBE)?.indexOf(`|${what}`) ?? 0;
  const completed = service.getCompletionsAtPosition(PROBE, position, {})?.entries ?? [];
  expect(completed.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
});
