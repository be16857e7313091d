import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

/** A test with a `[spec: …]` tag. */
export interface SectionTest {
  readonly section: string;
  /** The name after the tag. */
  readonly name: string;
  readonly file: string;
}

const TAG = /\[spec: ([^\]]+)\] (.+)$/;

/** Returns all tagged tests, as vitest lists them: each row of a table is a test. */
export async function collectTests(): Promise<SectionTest[]> {
  const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
  try {
    const list = join(folder, 'tests.json');
    const args = ['node_modules/vitest/vitest.mjs', 'list', ...taggedFiles(), `--json=${list}`];
    await promisify(execFile)(process.execPath, args, { timeout: 120_000 });
    const tests: { name: string; file: string }[] = JSON.parse(readFileSync(list, 'utf8'));
    return tests.flatMap(({ name, file }) => {
      const [, section, rest] = TAG.exec(name) ?? [];
      if (section === undefined || rest === undefined) return [];
      return [{ section, name: rest, file: relative(process.cwd(), file) }];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function taggedFiles(): string[] {
  return (
    readdirSync('test')
      // Skip projects that other tests create and remove meanwhile, and installed packages.
      .filter((folder) => !/^\.|^runtimes$/.test(folder) && !folder.includes('.'))
      .flatMap((folder) =>
        readdirSync(join('test', folder), { recursive: true, encoding: 'utf8' }).map((file) =>
          join('test', folder, file),
        ),
      )
      // Skip the test that calls this function: listing it would call the function again.
      .filter((file) => file.endsWith('.test.ts') && !/evidence\.test/.test(file))
      .filter((file) => readFileSync(file, 'utf8').includes('[spec: '))
  );
}

/** Returns the tests whose names begin with the text of a rule: in its own section, or in `[spec: …] …`. */
export function testsOf(
  tests: readonly SectionTest[],
  section: string,
  beginning: string,
): SectionTest[] {
  const [, of = section, begins = beginning] = /^\[spec: ([^\]]+)\] (.*)$/.exec(beginning) ?? [];
  return tests.filter((one) => one.section === of && one.name.startsWith(begins));
}
