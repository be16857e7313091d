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
export const bundled = [
  'commander',
  'hono',
  '@hono/node-server',
  'picocolors',
  'qs',
  'string-width',
];

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

const shared = {
  target: 'es2022',
  noExternal: bundled,
  esbuildPlugins: [withoutInspect],
} satisfies Options;

export default [
  {
    ...shared,
    entry: { ...entryPoints },
    format: ['esm', 'cjs'],
    dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
    // Shared code once, so that a class is the same class whichever subpath it came through.
    splitting: true,
    esbuildOptions(options, { format }) {
      if (format !== 'cjs') return;
      // An import.meta.url, by which the testing subpath finds the saved fixtures, and the sandbox libsql. The
      // option `shims` gives ES modules something as well, and makes each of them load node:path.
      options.define = { ...options.define, 'import.meta.url': 'importMetaUrl' };
      options.inject = [...(options.inject ?? []), 'node_modules/tsup/assets/cjs_shims.js'];
    },
    clean: true,
  },
  {
    ...shared,
    // It is run and not imported. What it uses of the package is what the seller's own modules load as well.
    entry: { cli: 'src/cli/index.ts' },
    format: 'esm',
    external: [/^storefront-webhooks(\/|$)/],
    // For what is CommonJS of what it holds.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
    },
  },
] satisfies Options[];
