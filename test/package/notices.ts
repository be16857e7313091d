import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { asModules, bundled, injected } from '../../tsup.config.js';
import { ROOT } from './folder.js';

const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

/**
 * Returns the notices about other authors' code in these entry points. A package that is imported and is not a
 * dependency gets bundled.
 */
export async function noticesOf(entryPoints: readonly string[]): Promise<string> {
  const { dependencies, peerDependencies } = readJson(ROOT, 'package.json');
  const installed = Object.keys({ ...dependencies, ...peerDependencies });
  const { metafile } = await esbuild.build({
    entryPoints: [...entryPoints],
    absWorkingDir: ROOT,
    outdir: 'dist',
    bundle: true,
    format: 'esm',
    platform: 'node',
    // tsup decides by the package name, for all paths in the package.
    external: installed.filter((name) => !bundled.includes(name)),
    plugins: [asModules],
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const imported = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const files = [...imported, injected];
  const folders = files.flatMap((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  const notices = Array.from(new Set(folders), noticeOf).sort();
  return ['# Code of others in this package', ...notices].join('\n\n');
}

function noticeOf(folder: string): string {
  const { name, version, license } = readJson(ROOT, folder, 'package.json');
  const file = readdirSync(join(ROOT, folder)).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no licence file to be named in the notices`);
  const text = readFileSync(join(ROOT, folder, file), 'utf8').trim();
  return `## ${name} ${version} (${license})\n\n${text}\n`;
}
