import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { createSandbox } from 'storefront-webhooks/sandbox';
import ts from 'typescript';
import { expect, test } from 'vitest';

const FILE = join(import.meta.dirname, 'generated.ts');

/** What only compiles where the types hold what the document says. */
const USE = `
type Id = operations['orders.get']['parameters']['path']['id'];
type Order = operations['orders.get']['responses'][200]['content']['application/json'];
type Sent = operations['blacklist.create']['requestBody']['content']['application/x-www-form-urlencoded'];
export const id: Id = 'ord_1';
export const title = (order: Order): string | undefined => order.product_title;
export const sent: Sent = { blacklist_type: 3, blocked_data: 'US' };
export const bought: Order['id'] = ({} as operations['sandbox.buy']['responses'][201]['content']['application/json']).id;
// @ts-expect-error - what is required has to be sent
export const wrong: Sent = { blacklist_type: 3 };
`;

test.each(['newer', 'older'] as const)(
  'a generator makes types of the document of the %s variant, and they compile',
  async (variant) => {
    const response = await createSandbox({ variant }).fetch('http://localhost/openapi.json');
    const types = astToString(await openapiTS(await response.text()));
    expect(compile(types + USE)).toEqual([]);
  },
);

/** What the compiler says of a file that is on no disk. */
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
