import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError, WebhookError } from 'storefront-webhooks';
import { ApiError } from 'storefront-webhooks/api';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { CAUSES } from '../src/cli/doctor/cause.js';
import { missing, placeOf } from './support/anchors.js';

const MODULES = [
  'src/errors/docs-link.ts',
  'src/errors/errors.ts',
  'src/request/outcome.ts',
  'src/api/api-error.ts',
];
const program = ts.createProgram(MODULES, { noEmit: true, strict: true });
const checker = program.getTypeChecker();

/** The literal texts of a module's type. */
function textsOf(module: string, name: string): string[] {
  const source = program.getSourceFile(module);
  const found = source?.statements.find(
    (statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === name,
  );
  if (!found) throw new Error(`${module} has no type ${name}`);
  const type = checker.getTypeAtLocation(found);
  const members = type.isUnion() ? type.types : [type];
  return members.flatMap((member) => (member.isStringLiteral() ? member.value : []));
}

describe('the section that a message links to exists', () => {
  test('for each kind of line on stderr', () => {
    const places = textsOf('src/errors/docs-link.ts', 'Page');
    expect(places.length).toBeGreaterThan(20);
    expect(missing(places)).toEqual([]);
  });

  test('for each error code', () => {
    const errors = [
      ...textsOf('src/errors/errors.ts', 'UsageErrorCode').map(
        (code) => new UsageError(code as UsageError['code'], 'Something failed.'),
      ),
      ...textsOf('src/errors/errors.ts', 'WebhookErrorCode').map(
        (code) => new WebhookError(code as WebhookError['code'], 'Something failed.'),
      ),
      ...textsOf('src/api/api-error.ts', 'ApiErrorCode').map(
        (code) => new ApiError(code as ApiError['code'], 'Something failed', { operation: 'get' }),
      ),
    ];
    expect(errors.length).toBeGreaterThan(50);
    for (const { message } of errors)
      expect(message).toMatch(
        /^(get: )?Something failed\. See node_modules\/storefront-webhooks\/docs\/\S+$/,
      );
    const places = errors.map(({ message }) => placeOf(message) ?? message);
    expect(new Set(places).size).toBe(errors.length);
    expect(missing(places)).toEqual([]);
  });

  test('for each reason of a rejected signature', () => {
    const codes = textsOf('src/request/outcome.ts', 'RejectionCode');
    expect(codes).toHaveLength(10);
    expect(missing(codes.map((code) => `errors.md#${code}`))).toEqual([]);
  });

  test('for each cause that the doctor finds', () => {
    const page = readFileSync('docs/debug.md', 'utf8');
    expect(CAUSES.filter((cause) => !page.includes(`\`${cause}\``))).toEqual([]);
  });

  test('for each link between the pages of messages', () => {
    const pages = ['debug.md', 'errors.md', 'operate.md', 'options.md'];
    const links = pages.flatMap((page) =>
      Array.from(
        readFileSync(join('docs', page), 'utf8').matchAll(/\]\(([\w-]+\.md)?#([\w-]+)\)/g),
        ([, to = page, anchor = '']) => `${to}#${anchor}`,
      ),
    );
    expect(links.length).toBeGreaterThan(20);
    expect(missing(links)).toEqual([]);
  });
});

test('only writeLine() writes to stderr', () => {
  const files = ['src', 'adapters'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/^(cli|testing)\b/.test(file))
      .map((file) => join(folder, file)),
  );
  const writing = files.filter((file) =>
    /^(?! *(?:\*|\/\/)).*(?:\bconsole\b[.[]|stderr\.write)/m.test(readFileSync(file, 'utf8')),
  );
  expect(writing).toEqual(['src/errors/log.ts']);
});
