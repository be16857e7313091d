import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../../../package.json' with { type: 'json' };
import { removeFolders, USERS } from '../../../package/folder.js';
import { install } from '../../../package/older.js';
import { OLDEST } from '../../../package/oldest.js';
import { compile, pack } from '../../../package/packed.js';

let tarball: string;
beforeAll(async () => {
  tarball = await pack();
}, 600_000);
afterAll(removeFolders);

// The oldest version, and those before and after a change of the types that this package reads.
test.each([
  ...[OLDEST.hono, '3.6.0', '3.12.12', '4.0.0', '4.4.0'].map((version) => ['hono', version]),
  ...[OLDEST.bullmq, '5.40.0', '5.66.0', '5.81.5'].map((version) => ['bullmq', version]),
] as [name: string, version: string][])(
  'a program of %s %s compiles',
  { timeout: 120_000 },
  async (name, version) => {
    const types = `@types/node@${manifest.devDependencies['@types/node']}`;
    const folder = await install([tarball, `${name}@${version}`, types]);
    cpSync(join(USERS, `${name}.ts`), join(folder, `${name}.ts`));
    for (const exactOptionalPropertyTypes of [false, true]) {
      const options = { exactOptionalPropertyTypes, skipLibCheck: true };
      expect(await compile(folder, [`${name}.ts`], ['node16', 'node16'], options)).toBe('');
    }
  },
);
