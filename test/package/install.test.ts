import { readFileSync } from 'node:fs';
import semver from 'semver';
import { describe, expect, test } from 'vitest';

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

interface LockedPackage {
  readonly version: string;
  /** npm leaves out an optional package that does not fit, without a warning. */
  readonly optional?: boolean;
  readonly engines?: { readonly node?: string };
  readonly hasInstallScript?: boolean;
  readonly deprecated?: string;
}

const { engines, allowScripts } = readJson('package.json');
const { '': _, ...packages }: Record<string, LockedPackage> =
  readJson('package-lock.json').packages;

const nameOf = (path: string) => path.replace(/^.*node_modules\//, '');

/** The packages of package-lock.json that npm would warn of, by their names. */
function namesOf(isWrong: (found: LockedPackage) => boolean): string[] {
  const found = Object.entries(packages).filter(([, each]) => isWrong(each));
  return found.map(([path, { version }]) => `${nameOf(path)}@${version}`);
}

/** The oldest Node that package.json supports, and each Node that the tests run on. */
function supportedNodes(): string[] {
  const { dependencies, devDependencies } = readJson('test/runtimes/package.json');
  const installed: string[] = Object.values({ ...dependencies, ...devDependencies });
  const nodes = installed.flatMap((version) => /^npm:node@(.*)$/.exec(version)?.[1] ?? []);
  return [`${semver.minVersion(engines.node)}`, ...nodes];
}

describe('npm ci', () => {
  test.each(supportedNodes())('installs only packages that support Node %s', (node) => {
    const fails = ({ optional, engines }: LockedPackage) =>
      !optional && !semver.satisfies(node, engines?.node ?? '*');
    expect(namesOf(fails)).toEqual([]);
  });

  test('installs no deprecated package', () => {
    expect(namesOf(({ deprecated }) => deprecated !== undefined)).toEqual([]);
  });

  test('runs only install scripts about which package.json has decided', () => {
    const scripted = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript);
    expect(new Set(scripted.map(nameOf))).toEqual(new Set(Object.keys(allowScripts)));
  });
});
