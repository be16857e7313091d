import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { entryPoints } from '../../tsup.config.js';
import { anchors } from './pages.js';

const TOOLS = resolve('test/tools/node_modules');

const { index = '', ...others } = entryPoints;
const modules = { 'storefront-webhooks': index, ...others };

/** Returns docs/api/: a page for each subpath, generated from the doc comments. */
export function makeReference(): ReadonlyMap<string, string> {
  // Inside the repository, so that its packages resolve.
  mkdirSync('node_modules/.cache', { recursive: true });
  const folder = mkdtempSync('node_modules/.cache/reference-');
  try {
    for (const [name, source] of Object.entries(modules)) {
      writeFileSync(join(folder, `${name}.ts`), `export * from '${resolve(source)}';\n`);
    }
    const write = (file: string, json: object) =>
      writeFileSync(join(folder, file), JSON.stringify(json));
    write('tsconfig.json', {
      extends: resolve('tsconfig.json'),
      compilerOptions: { allowImportingTsExtensions: true },
      include: ['*.ts'],
      exclude: [],
    });
    write('typedoc.json', {
      entryPoints: Object.keys(modules).map((name) => `./${name}.ts`),
      tsconfig: './tsconfig.json',
      // npm run types checks them.
      skipErrorChecking: true,
      plugin: [join(TOOLS, 'typedoc-plugin-markdown/dist/index.js')],
      out: './pages',
      name: 'Reference',
      readme: 'none',
      router: 'module',
      modulesFileName: 'README',
      entryFileName: 'README',
      pageTitleTemplates: { module: 'storefront-webhooks/{name}' },
      disableSources: true,
      excludePrivate: true,
      excludeExternals: true,
      hideBreadcrumbs: true,
      hidePageHeader: true,
      useCodeBlocks: true,
      parametersFormat: 'table',
      interfacePropertiesFormat: 'table',
      classPropertiesFormat: 'table',
      typeAliasPropertiesFormat: 'table',
      logLevel: 'Error',
    });
    const typedoc = [join(TOOLS, 'typedoc/bin/typedoc'), '--options', join(folder, 'typedoc.json')];
    execFileSync(process.execPath, typedoc, { stdio: 'inherit' });
    const pages = join(folder, 'pages');
    return new Map(
      readdirSync(pages).map((file) => {
        const text = readFileSync(join(pages, file), 'utf8').replace(
          '# storefront-webhooks/storefront-webhooks',
          '# storefront-webhooks',
        );
        const there = anchors({ path: file, text, isGenerated: true });
        // typedoc numbers an item that the sources declare twice.
        const linked = text.replace(/\(#([\w-]+)-\d+\)/g, (link, anchor) =>
          there.includes(link.slice(2, -1)) ? link : `(#${anchor})`,
        );
        return [file, `${linked.trimEnd()}\n`];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// When run as a script.
if (process.argv[1] === import.meta.filename) {
  rmSync('docs/api', { recursive: true, force: true });
  mkdirSync('docs/api');
  for (const [file, text] of makeReference()) writeFileSync(join('docs/api', file), text);
}
