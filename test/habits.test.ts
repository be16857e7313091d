import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));

interface Step {
  readonly name: string;
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<
    Record<string, { strategy?: { matrix: { node: number[] } }; steps: readonly Step[] }>
  >;
}

const read = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8');

/** The commands of npm that a script or a step gives, one a line. */
function npmCommands(text: string): string[] {
  const commands = text.matchAll(/^(?:step )?(npm .*)$/gm);
  return Array.from(commands, ([, command = '']) => command.trim());
}

describe('the workflows', () => {
  const folder = '.github/workflows';
  const workflows = readdirSync(folder);
  const parsed = (file: string): Workflow => parse(read(folder, file));
  const stepsOf = (file: string) => Object.values(parsed(file).jobs).flatMap(({ steps }) => steps);

  test.each(workflows)('%s says of each step, in a sentence, what it does', (file) => {
    for (const step of stepsOf(file)) {
      expect(step.name).toMatch(/^[A-Z]\S*( \S+){2,}$/);
      expect([step.uses, step.run].filter(Boolean), step.name).toHaveLength(1);
    }
  });

  test.each(workflows)('%s names only scripts that exist', (file) => {
    const commands = stepsOf(file).flatMap(({ run = '' }) => npmCommands(run));
    expect(commands.length).toBeGreaterThan(0);
    for (const [, script = ''] of commands.join('\n').matchAll(/^npm run (\S+)/gm)) {
      expect(Object.keys(manifest.scripts)).toContain(script);
    }
  });

  test.each(workflows)('%s takes each action by its major version', (file) => {
    const actions = stepsOf(file).flatMap(({ uses }) => uses ?? []);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
  });

  test.each(workflows)('%s has no secrets, and may only read the code', (file) => {
    expect(parsed(file).permissions).toEqual({ contents: 'read' });
    expect(read(folder, file)).not.toMatch(/\bsecrets\b|contents: write/);
  });

  test('ci.yml does what .ci/run does, and not more', () => {
    const commands = stepsOf('ci.yml').flatMap(({ run = '' }) => npmCommands(run));
    const here = npmCommands(readFileSync('.ci/run', 'utf8'));
    expect(here.length).toBeGreaterThan(5);
    expect(new Set(commands)).toEqual(new Set(here));
  });

  test('ci.yml tries each Node that the README names, from the oldest that is supported', () => {
    const { dependencies } = JSON.parse(readFileSync('test/runtimes/package.json', 'utf8'));
    const named = Object.keys(dependencies).flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? []);
    const { node = [] } = parsed('ci.yml').jobs.tests?.strategy?.matrix ?? {};
    expect(node).toEqual(named.map(Number));
    expect(manifest.engines.node).toMatch(new RegExp(`^>=${node.at(0)}\\.`));
    expect(readFileSync('README.md', 'utf8')).toContain(`Node ${node.at(0)} to ${node.at(-1)}`);
  });
});

describe('a release', () => {
  test('has its section in the changelog', () => {
    expect(readFileSync('CHANGELOG.md', 'utf8')).toContain(`\n## ${manifest.version}\n`);
  });

  test('is installed from whatever registry there is: the lock files name none', () => {
    for (const folder of ['.', 'test/runtimes']) {
      expect(read(folder, 'package-lock.json'), folder).not.toContain('"resolved"');
    }
  });
});
