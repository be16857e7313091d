import { join, normalize } from 'node:path';
import { Application, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { entryPoints } from '../../tsup.config.js';
import { ROOT } from './folder.js';

const OPTIONS: TypeDocOptions & Partial<PluginOptions> = {
  entryPoints: Object.values(entryPoints).map((file) => join(ROOT, file)),
  tsconfig: join(ROOT, 'tsconfig.json'),
  plugin: ['typedoc-plugin-markdown'],
  outputFileStrategy: 'modules',
  name: 'API',
  readme: 'none',
  // What is compiled is checked by `npm run types`, and sources have lines that change.
  skipErrorChecking: true,
  disableSources: true,
  excludeExternals: true,
  excludePrivate: true,
  excludeInternal: true,
  githubPages: false,
  logLevel: 'Error',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  propertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  enumMembersFormat: 'table',
  tableColumnSettings: { hideSources: true, hideInherited: true, hideOverrides: true },
  sort: ['alphabetical'],
};

const NAMES = new Map(
  Object.entries(entryPoints).map(([name, file]) => [
    normalize(file).replace(/(\/index)?\.ts$/, ''),
    name,
  ]),
);

/** Writes a page for each subpath into a folder, from the doc comments. */
export async function writeReference(folder: string): Promise<void> {
  const app = await Application.bootstrapWithPlugins(OPTIONS);
  const project = await app.convert();
  if (!project) throw new Error('TypeDoc could not read the entry points.');
  for (const module of project.children ?? []) {
    module.name = NAMES.get(module.name) ?? module.name;
  }
  await app.outputs.writeOutput({ name: 'markdown', path: folder }, project);
}

// As a script.
if (process.argv[1] === import.meta.filename) await writeReference(join(ROOT, 'docs/api'));
