import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type PgBoss10 from 'pg-boss';

/** The module of pg-boss 12, as far as tests use it. Its methods are those of pg-boss 10. */
interface PgBoss12Module {
  readonly PgBoss: new (options: PgBoss12Options) => PgBoss10;
}

type PgBoss12Options = PgBoss10.ConstructorOptions & {
  readonly superviseIntervalSeconds?: number;
  readonly monitorIntervalSeconds?: number;
};

/**
 * Loads pg-boss 12. It needs Node 22, so it is installed in test/runtimes, and `npm ci` installs pg-boss 10. The path
 * begins at the working directory, because programs that import this file are bundled into another folder.
 */
export async function loadPgBoss12(): Promise<PgBoss12Module> {
  const path = resolve('test/runtimes/node_modules/pg-boss/dist/index.js');
  return import(pathToFileURL(path).href);
}
