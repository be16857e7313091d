import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

// The provider states no licence; and that forms are told apart by a field that may be absent.
const SKIPPED = ['info-license', 'no-illogical-composition-keywords'];

/** What a linter advises about an OpenAPI document. */
export async function lint(document: object): Promise<unknown[]> {
  const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    const rules = SKIPPED.flatMap((rule) => ['--skip-rule', rule]);
    const cli = join(process.cwd(), 'node_modules/@redocly/cli/bin/cli.js');
    const args = [cli, 'lint', 'openapi.json', '--format', 'json', ...rules];
    const env = {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    };
    const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 };
    const linted = promisify(execFile)(process.execPath, args, options);
    // It ends with 1 where it has found an error.
    const { stdout } = await linted.catch((error: { stdout: string }) => error);
    return JSON.parse(stdout).problems;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
