import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Application } from './apps/inside/contract.js';

const APPS = join(import.meta.dirname, 'apps');

/** The applications under the contract, by file name. Each file in `apps/` is one. */
export async function applications(): Promise<[file: string, application: Application][]> {
  const names = readdirSync(APPS).filter((name) => name.endsWith('.ts'));
  return Promise.all(
    names.map(async (name) => {
      const { application } = await import(join(APPS, name));
      return [name.slice(0, -'.ts'.length), application];
    }),
  );
}
