import { existsSync, readdirSync } from 'node:fs';
import type { Options } from 'tsup';
import tsconfig from './tsconfig.json' with { type: 'json' };

/**
 * The entry points of the package, such as `express`, and their sources: where the `paths` of tsconfig.json
 * lead. A new file in `adapters/` is one, and so is the `index.ts` of a new store or queue.
 */
export const entryPoints: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(tsconfig.compilerOptions.paths).flatMap(([specifier, sources]) =>
    sources.flatMap((source) => {
      const [folder = '', end] = source.split('*');
      if (end === undefined) return [[specifier.split('/')[1] ?? 'index', source]];
      const names = readdirSync(folder).map((name) => name.replace(/\.ts$/, ''));
      const found = names.filter((name) => existsSync(folder + name + end));
      return found.map((name) => [name, folder + name + end]);
    }),
  ),
);

/**
 * What only the sandbox and the command need is in their own files, so that who imports the library installs
 * nothing more.
 */
export const bundled = ['commander', 'hono', '@hono/node-server', 'qs'];

/**
 * What qs describes values with takes `util` by `require`, which a module has not. As its own package.json says for
 * browsers, it does without.
 */
const withoutInspect = {
  name: 'without-inspect',
  setup(build) {
    build.onLoad({ filter: /object-inspect[\\/]util\.inspect\.js$/ }, () => ({ contents: '' }));
  },
} satisfies NonNullable<Options['esbuildPlugins']>[number];

export default {
  // The command is run and not imported, so it is no subpath.
  entry: { ...entryPoints, cli: 'src/cli/index.ts' },
  format: ['esm', 'cjs'],
  target: 'es2022',
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
  // Shared code once, so that a class is the same class whichever subpath it came through.
  splitting: true,
  noExternal: bundled,
  esbuildPlugins: [withoutInspect],
  // Gives CommonJS an import.meta.url, by which the testing subpath finds the saved fixtures.
  shims: true,
  clean: true,
} satisfies Options;
