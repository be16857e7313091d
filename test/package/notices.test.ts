import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entryPoints } from '../../tsup.config.js';
import { ROOT } from './folder.js';
import { noticesOf } from './notices.js';

const FILE = join(ROOT, 'THIRD-PARTY-NOTICES.md');

// `npx vitest run test/package/notices.test.ts --update` writes it.
test('the package names whose code it holds, with their licences', async () => {
  await expect(
    await noticesOf([...Object.values(entryPoints), 'src/cli/index.ts']),
  ).toMatchFileSnapshot(FILE);
});

test('what is imported and no dependency would be named', async () => {
  const notices = await noticesOf(['test/api/form.test.ts']);
  expect(notices).toMatch(/^## qs \d+\.\d+\.\d+ \(BSD-3-Clause\)$/m);
  expect(notices).toContain('Copyright (c) 2014, Nathan LaFreniere');
  expect(notices).not.toMatch(/^## zod /m);
});
