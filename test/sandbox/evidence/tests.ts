import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

/** A test that says which section it is about. */
export interface SectionTest {
  readonly section: string;
  /** Without the section, and what stands before it. */
  readonly name: string;
  readonly file: string;
}

const TAG = /\[spec: ([^\]]+)\] (.+)$/;

/** All such tests there are, as vitest collects them: each row of a table is one. */
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
      // Projects that other tests make and remove meanwhile, and what is installed beside them.
      .filter((folder) => !/^\.|^runtimes$/.test(folder) && !folder.includes('.'))
      .flatMap((folder) =>
        readdirSync(join('test', folder), { recursive: true, encoding: 'utf8' }).map((file) =>
          join('test', folder, file),
        ),
      )
      // The test that asks for the list is not in it: collected, it would ask again.
      .filter((file) => file.endsWith('.test.ts') && !/evidence\.test/.test(file))
      .filter((file) => readFileSync(file, 'utf8').includes('[spec: '))
  );
}

/** Those whose names begin so, as a rule has it: of its own section, or `[spec: …] …`. */
export function testsOf(
  tests: readonly SectionTest[],
  section: string,
  beginning: string,
): SectionTest[] {
  const [, of = section, begins = beginning] = /^\[spec: ([^\]]+)\] (.*)$/.exec(beginning) ?? [];
  return tests.filter((one) => one.section === of && one.name.startsWith(begins));
}
