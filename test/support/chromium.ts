import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { describe, test } from 'vitest';

/** What systems call it; `CHROMIUM` says where else it is. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

const executablePath = [
  process.env.CHROMIUM,
  ...NAMES.flatMap((name) =>
    (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)),
  ),
].find((path) => path !== undefined && existsSync(path));

/** Why tests that need a real browser cannot run here. */
export const missingChromium: string | undefined = executablePath
  ? undefined
  : 'Chromium is not installed: apt-get install chromium';

/** Tests that need a real browser: where there is none, one skipped test says so; in CI, there has to be. */
export function withChromium(name: string, tests: () => void): void {
  if (!missingChromium || process.env.CI) describe(name, tests);
  else test.skip(`${name}: ${missingChromium}`, () => {});
}

/** Starts a browser of a test's own. */
export async function startChromium(): Promise<Browser> {
  if (!executablePath) throw new Error(missingChromium);
  // Root, which is whom containers run as, has no sandbox of Chromium's.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}
