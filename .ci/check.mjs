// npm run check: lint, types, and the tests of npm test that belong to what has changed since main.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const git = (...args) =>
  execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
const base = git('merge-base', 'main', 'HEAD')[0] ?? 'main';
const changed = [
  ...git('diff', '--name-only', '--diff-filter=d', base),
  ...git('ls-files', '--others', '--exclude-standard'),
];

/** The tests to run for folders of src that other folders depend on. */
const CORE = ['test/process', 'test/receiver', 'test/request', 'test/threats'];
const ALSO = {
  errors: CORE,
  process: CORE,
  report: CORE,
  request: CORE,
  schemas: ['test/schemas', 'test/request'],
  stores: ['test/stores', 'test/receiver'],
  sandbox: ['test/sandbox', 'test/api'],
};

function testsOf(file) {
  if (/^test\/(full|nightly)\//.test(file)) return [];
  if (/^test\/.*\.test\.ts$/.test(file)) return [file];
  const [root, room] = file.split('/');
  if (root === 'test') return [`test/${room}`];
  if (root === 'adapters') return ['test/adapters', 'test/frameworks'];
  if (root === 'src' && file.split('/').length === 2) return CORE;
  if (root === 'src') return [`test/${room}`, ...(ALSO[room] ?? [])];
  if (root === 'examples') return ['test/examples'];
  if (root === 'fixtures') return ['test/fixtures.test.ts', 'test/testing'];
  if (/\.md$/.test(file)) return ['test/docs'];
  return ['test/habits.test.ts'];
}

const tests = [...new Set(changed.flatMap(testsOf))].filter((path) => existsSync(path));
const run = (command, ...args) => {
  console.log(`\n$ ${[command, ...args].join(' ')}`);
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};
run('npm', 'run', '--silent', 'lint');
run('npm', 'run', '--silent', 'types');
if (tests.length > 0)
  run('npx', 'vitest', 'run', '--project', 'fast', '--project', 'frameworks', ...tests);
