import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

interface Step {
  readonly env?: Readonly<Record<string, string>>;
  readonly run?: string;
}

const release: { jobs: { publish: { steps: readonly Step[] } } } = parse(
  readFileSync('.github/workflows/release.yml', 'utf8'),
);
const { steps } = release.jobs.publish;
const indexOf = (command: string) =>
  steps.findIndex(({ run = '' }) => run.split(' ').slice(0, 2).join(' ') === command);

const GITHUB: Readonly<Record<string, string>> = {
  server_url: 'https://github.example',
  repository: 'seller/storefront-webhooks',
};

/** Returns a text with the values of GitHub in place of its expressions. */
const evaluated = (text: string) =>
  text.replace(/\$\{\{ github\.(\w+) \}\}/g, (all, name: string) => GITHUB[name] ?? all);

test('a release publishes with provenance, and the addresses of its repository', () => {
  const [writing, publishing] = [indexOf('npm pkg'), indexOf('npm publish')];
  expect(steps[publishing]?.run).toContain('--provenance');
  expect(writing).toBeGreaterThanOrEqual(0);
  expect(writing).toBeLessThan(publishing);
  const { env = {}, run = '' } = steps[writing] ?? {};
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'package.json');
  copyFileSync('package.json', file);
  const values = Object.entries(env).map(([name, value]) => [name, evaluated(value)]);
  // GitHub runs a step with these options.
  execFileSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', evaluated(run)], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...Object.fromEntries(values) },
  });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    ...JSON.parse(readFileSync('package.json', 'utf8')),
    repository: {
      type: 'git',
      url: 'git+https://github.example/seller/storefront-webhooks.git',
    },
    homepage: 'https://github.example/seller/storefront-webhooks#readme',
    bugs: { url: 'https://github.example/seller/storefront-webhooks/issues' },
  });
});
