import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MODULES = join(import.meta.dirname, 'node_modules');

/** Runs a program on an OpenAPI document, and returns its output. */
async function run(document: object, script: string, args: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    const env = {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    };
    const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 };
    const running = promisify(execFile)(process.execPath, [script, ...args], options);
    // A linter exits with 1 if it has found an error.
    const { stdout } = await running.catch((error: { stdout: string }) => error);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// The provider states no licence, and an optional field distinguishes two forms.
const SKIPPED = ['info-license', 'no-illogical-composition-keywords'];

/** Returns a linter's advice about an OpenAPI document. */
export async function lint(document: object): Promise<unknown[]> {
  const rules = SKIPPED.flatMap((rule) => ['--skip-rule', rule]);
  const args = ['lint', 'openapi.json', '--format', 'json', ...rules];
  return JSON.parse(await run(document, join(MODULES, '@redocly/cli/bin/cli.js'), args)).problems;
}

/** Returns whether a parser accepts the document, and its warnings. */
export async function validate(document: object): Promise<unknown> {
  const script = join(import.meta.dirname, 'parse.mjs');
  return JSON.parse(await run(document, script, ['openapi.json']));
}

/** Returns the types that a generator makes of the document. */
export function typesOf(document: object): Promise<string> {
  return run(document, join(MODULES, 'openapi-typescript/bin/cli.js'), ['openapi.json']);
}
