import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { describe, test } from 'vitest';

/** The usual names of the program. `CHROMIUM` overrides them. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

const executablePath = [
  process.env.CHROMIUM,
  ...NAMES.flatMap((name) =>
    (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)),
  ),
].find((path) => path !== undefined && existsSync(path));

/** The reason why tests that need a real browser cannot run here. */
export const missingChromium: string | undefined = executablePath
  ? undefined
  : 'Chromium is not installed: apt-get install chromium';

/** Tests that need a real browser. Without one, a single skipped test explains it; CI must have one. */
export function withChromium(name: string, tests: () => void): void {
  if (!missingChromium || process.env.CI) describe(name, tests);
  else test.skip(`${name}: ${missingChromium}`, () => {});
}

/** Starts a browser for one test. */
export async function startChromium(): Promise<Browser> {
  if (!executablePath) throw new Error(missingChromium);
  // Containers run as root, for whom Chromium's own sandbox does not work.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}
