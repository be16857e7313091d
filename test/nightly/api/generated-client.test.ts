import { join } from 'node:path';
import { createSandbox } from 'storefront-webhooks/sandbox';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { withInstalled } from '../../support/installed.js';
import { typesOf } from '../../tools/openapi.js';

const FILE = join(import.meta.dirname, 'generated.ts');

/** Compiles only if the types match the document. */
const USE = `
type Id = operations['orders.get']['parameters']['path']['id'];
type Order = operations['orders.get']['responses'][200]['content']['application/json'];
type Sent = operations['blacklist.create']['requestBody']['content']['application/x-www-form-urlencoded'];
export const id: Id = 'ord_1';
export const title = (order: Order): string | undefined => order.product_title;
export const sent: Sent = { blacklist_type: 3, blocked_data: 'US' };
export const bought: Order['id'] = ({} as operations['sandbox.buy']['responses'][201]['content']['application/json']).id;
// @ts-expect-error - a required field is missing
export const wrong: Sent = { blacklist_type: 3 };
`;

withInstalled('test/tools', 'a generator', () => {
  test.each(['newer', 'older'] as const)(
    'creates types from the document of the %s variant, and they compile',
    async (variant) => {
      const response = await createSandbox({ variant }).fetch('http://localhost/openapi.json');
      const types = await typesOf(JSON.parse(await response.text()));
      expect(compile(types + USE)).toEqual([]);
    },
  );
});

/** Returns the errors of the compiler for a file that is not on disk. */
function compile(text: string): string[] {
  const options = { noEmit: true, strict: true, target: ts.ScriptTarget.ES2022, types: [] };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, language, ...rest) =>
    name === FILE
      ? ts.createSourceFile(name, text, language)
      : getSourceFile.call(host, name, language, ...rest);
  const program = ts.createProgram([FILE], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
