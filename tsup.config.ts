import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join, resolve } from 'node:path';
import type { OnResolveResult, Plugin } from 'esbuild';
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
 * The suffixes of the files that replace another file, such as `hashes.portable.ts` for `hashes.ts`, and the conditions
 * of the bundlers and runtimes that choose each.
 */
export const REPLACEMENTS = {
  '.portable': ['workerd', 'edge-light', 'browser', 'default'],
  '.worker': ['workerd', 'edge-light'],
  '.imported': ['bun', 'deno'],
} as const;

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join('src', file.replace(/\.ts$/, '')))
  .sort();

/**
 * The replacements of each replaced file, without `.ts`. The `imports` of package.json name the file after its end,
 * such as `#hashes`.
 */
export const replaced: ReadonlyMap<string, readonly string[]> = new Map(
  sources
    .map((file) => {
      const own = Object.keys(REPLACEMENTS).map((suffix) => file + suffix);
      return [file, own.filter((one) => sources.includes(one))] as const;
    })
    .filter(([, own]) => own.length > 0),
);

/** Resolves the imports of replaced files. */
function resolveReplaced(to: (file: string) => OnResolveResult): Plugin {
  return {
    name: 'replaced-files',
    setup({ onResolve }) {
      for (const file of replaced.keys()) {
        const filter = new RegExp(`^\\.(.*/)?${basename(file)}\\.js$`);
        onResolve({ filter }, ({ path, resolveDir }) => {
          const imported = resolve(resolveDir, path.replace(/\.js$/, ''));
          return imported.endsWith(file) ? to(imported) : undefined;
        });
      }
    },
  };
}

/** For bundles of the sources that run on Workers. */
export const onWorkers = resolveReplaced((file) => {
  const own = ['.portable.ts', '.worker.ts'].map((suffix) => file + suffix);
  return { path: own.find((one) => existsSync(one)) ?? '' };
});

/** For the package, which chooses by the `imports` of package.json. */
const keepReplaced = resolveReplaced((file) => ({ path: `#${basename(file)}`, external: true }));

const replacements = Object.fromEntries(
  [...replaced].flat(2).map((file) => [basename(file), `${file}.ts`]),
);

/**
 * The dependencies that are bundled. Most are needed by the sandbox and the command only, and users of the library
 * need not install them. raw-body is bundled because it is CommonJS: it loads Node's modules by `require`, which
 * fails after a user's bundler has moved it into an ES module.
 */
export const bundled = [
  'commander',
  'hono',
  '@hono/node-server',
  'markdown-it',
  'picocolors',
  'qs',
  'raw-body',
  'string-width',
];

/**
 * Removes a file of object-inspect, on which qs depends: it loads `util` by `require`, which an ES module does not
 * have. The package.json of object-inspect removes it for browsers.
 */
const withoutInspect = {
  name: 'without-inspect',
  setup(build) {
    build.onLoad({ filter: /object-inspect[\\/]util\.inspect\.js$/ }, () => ({ contents: '' }));
  },
} satisfies NonNullable<Options['esbuildPlugins']>[number];

/** Imports the modules of Node that bundled CommonJS requires, because a module has no `require`. */
export const asModules: Plugin = {
  name: 'as-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[\w/]+$/ }, ({ path, kind }) =>
      kind === 'require-call' && isBuiltin(path) ? { path, namespace: 'builtin' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `export * from 'node:${path}';`,
    }));
    // raw-body needs it only to decode text, and it is larger than all others together.
    onResolve({ filter: /^iconv-lite$/ }, ({ path }) => ({ path, namespace: 'unused' }));
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: '' }));
  },
};

/** A file of tsup that it adds to CommonJS. */
export const injected = 'node_modules/tsup/assets/cjs_shims.js';

/** Where TypeScript 7 writes the declarations. In node_modules/, tsup would take them for another package's. */
const DECLARATIONS = '.types';

/** TypeScript 7 needs 2 s for the declarations. TypeScript 6, which tsup runs for each format, needs 45. */
function declare(): void {
  rmSync(DECLARATIONS, { recursive: true, force: true });
  const tsc = 'node_modules/typescript-7/bin/tsc';
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.declarations.json'], { stdio: 'inherit' });
}

/** The declarations of the entry points. tsup only bundles them, for each format. */
const declarations = Object.fromEntries(
  Object.entries(entryPoints).map(([name, source]) => [
    name,
    source.replace(/^\.\/(.*)\.ts$/, `${DECLARATIONS}/$1.d.ts`),
  ]),
);

const shared = {
  target: 'es2022',
  noExternal: bundled,
  esbuildPlugins: [withoutInspect],
} satisfies Options;

const packages = [
  {
    ...shared,
    entry: { ...entryPoints, ...replacements },
    esbuildPlugins: [...shared.esbuildPlugins, asModules, keepReplaced],
    format: ['esm', 'cjs'],
    dts: { entry: declarations, compilerOptions: { ignoreDeprecations: '6.0', paths: {} } },
    // All subpaths share their code: a class that is imported from two of them is the same class.
    splitting: true,
    esbuildOptions(options, { format }) {
      if (format !== 'cjs') return;
      // The testing subpath finds the saved fixtures by import.meta.url, and the sandbox finds libsql. The option
      // `shims` would also change the ES modules: each would load node:path.
      options.define = { ...options.define, 'import.meta.url': 'importMetaUrl' };
      options.inject = [...(options.inject ?? []), injected];
    },
    clean: true,
  },
  {
    ...shared,
    // The command imports the package, so that it shares its classes with the modules that a seller's files import.
    entry: { cli: 'src/cli/index.ts' },
    format: 'esm',
    external: [/^storefront-webhooks(\/|$)/],
    // Some bundled dependencies are CommonJS.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
    },
  },
] satisfies Options[];

export default ({ dts }: Options): Options[] => {
  if (dts !== false) declare();
  return packages;
};
