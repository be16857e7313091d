import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entryPoints } from '../../tsup.config.js';
import { ROOT } from './folder.js';
import { noticesOf } from './notices.js';

const FILE = join(ROOT, 'THIRD-PARTY-NOTICES.md');

// To write the file: `npx vitest run test/package/notices.test.ts --update`.
test('the package names the bundled packages with their licences', async () => {
  await expect(
    await noticesOf([...Object.values(entryPoints), 'src/cli/index.ts']),
  ).toMatchFileSnapshot(FILE);
});

test('a bundled import that is not a dependency would be listed', async () => {
  const notices = await noticesOf(['test/api/form.test.ts']);
  expect(notices).toMatch(/^## qs \d+\.\d+\.\d+ \(BSD-3-Clause\)$/m);
  expect(notices).toContain('Copyright (c) 2014, Nathan LaFreniere');
  expect(notices).not.toMatch(/^## zod /m);
});
