import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterEach, expect, test, vi } from 'vitest';
import { openPostgresJs, openStore } from '../../../../src/cli/dead/open-store.js';
import { limitsOf } from '../../../../src/stores/postgres/limits.js';
import { makeFolder, removeFolders } from '../../../package/folder.js';

afterEach(removeFolders);

/** The folder of a shop whose node_modules has this module, and no other driver of its kind. */
function shopWith(name: string, source: string): string {
  const folder = makeFolder();
  const module = join(folder, 'node_modules', name);
  mkdirSync(module, { recursive: true });
  writeFileSync(join(module, 'index.js'), source);
  writeFileSync(join(folder, 'package.json'), '{}');
  return folder;
}

test('the client of ioredis before 4.10, whose module is the class itself, opens a store', async () => {
  const installed = createRequire(import.meta.url).resolve('ioredis');
  const own = 'static Redis = undefined; static default = undefined;';
  const source = `module.exports = class extends require(${JSON.stringify(installed)}) { ${own} };`;
  vi.spyOn(process, 'cwd').mockReturnValue(shopWith('ioredis', source));
  const { store, close } = await openStore('redis://127.0.0.1:1');
  await expect(store.count({ state: 'dead' })).rejects.toThrow('ECONNREFUSED');
  await close();
});

test('postgres.js has the limit for an answer that the store would miss', async () => {
  const made: unknown[] = [];
  const spied = new Proxy(postgres, {
    apply: (target, self, args) => made[made.push(Reflect.apply(target, self, args)) - 1],
  });
  const { store, close } = await openPostgresJs(spied, 'postgres://shop@127.0.0.1:1/shop', true);
  expect(made.map((sql) => limitsOf(sql)?.missing)).toEqual([[]]);
  await expect(store.count({ state: 'dead' })).rejects.toThrow('ECONNREFUSED');
  await close();
});
