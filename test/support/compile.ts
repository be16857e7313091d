import { resolve } from 'node:path';
import ts from 'typescript';

/** The docs use pg-boss 12, which `npm ci` does not install. Elsewhere, a declaration of what they use has to do. */
const PG_BOSS_12 = ['test/runtimes/node_modules/pg-boss', 'test/docs/pg-boss.d.ts'].map((path) =>
  resolve(path),
);

/**
 * Compiles each example as a module of this repository, and returns the errors of each.
 *
 * @param declarations - Files that declare the names which the examples use without importing them.
 */
export function compile(
  examples: readonly string[],
  declarations: readonly string[] = [],
): string[][] {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, resolve('.'));
  const paths = { ...parsed.options.paths, 'pg-boss': PG_BOSS_12 };
  // With declarations, as a program of several packages has them: each exported type must have a name.
  const options = { ...parsed.options, paths, noUnusedLocals: false, declaration: true };
  const files = new Map(
    examples.map((code, index) => [resolve(`example-${index}.ts`), `${code}\nexport {};`]),
  );
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  const program = ts.createProgram(
    [...files.keys(), ...declarations.map((file) => resolve(file))],
    options,
    host,
  );
  return Array.from(files.keys(), (file) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  );
}
