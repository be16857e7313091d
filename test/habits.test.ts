import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReceiver } from 'storefront-webhooks';
import { replay } from 'storefront-webhooks/testing';
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

interface Form {
  readonly name: string;
  readonly description: string;
  readonly body: readonly {
    readonly type: string;
    readonly id?: string;
    readonly attributes: { readonly label?: string; readonly placeholder?: string };
  }[];
}

const read = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8');

/** Returns the npm commands of a script or step, one per line. */
function npmCommands(text: string): string[] {
  const commands = text.matchAll(/^(?:(?:step|beside) (?:env \S+ )?)?(npm .*)$/gm);
  return Array.from(commands, ([, command = '']) => command.trim());
}

describe('the workflows', () => {
  const folder = '.github/workflows';
  const workflows = readdirSync(folder);
  const parsed = (file: string): Workflow => parse(read(folder, file));
  const stepsOf = (file: string) => Object.values(parsed(file).jobs).flatMap(({ steps }) => steps);

  test.each(workflows)('%s describes each step in a sentence', (file) => {
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

  test.each(workflows)('%s uses each action with its major version', (file) => {
    const actions = stepsOf(file).flatMap(({ uses }) => uses ?? []);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
  });

  test.each(workflows)('%s has no secrets and only reads the code', (file) => {
    expect(parsed(file).permissions).toEqual({ contents: 'read' });
    expect(read(folder, file)).not.toMatch(/\bsecrets\b|contents: write/);
  });

  test('ci.yml runs the steps of .ci/run, and npm test on each Node version', () => {
    const commands = stepsOf('ci.yml').flatMap(({ run = '' }) => npmCommands(run));
    const here = npmCommands(readFileSync('.ci/run', 'utf8'));
    expect(here.length).toBeGreaterThan(5);
    expect(new Set(commands)).toEqual(new Set([...here, 'npm test']));
  });

  test('ci.yml tests each Node version that the README names, from the oldest supported one', () => {
    const { dependencies, devDependencies } = JSON.parse(read('test/runtimes', 'package.json'));
    const installed = Object.keys({ ...dependencies, ...devDependencies });
    const named = installed.flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? []).sort();
    const { node = [] } = parsed('ci.yml').jobs.tests?.strategy?.matrix ?? {};
    expect(node).toEqual(named.map(Number));
    expect(manifest.engines.node).toMatch(new RegExp(`^>=${node.at(0)}\\.`));
    expect(readFileSync('README.md', 'utf8')).toContain(`Node ${node.at(0)} to ${node.at(-1)}`);
  });
});

describe('the issue forms', () => {
  const folder = '.github/ISSUE_TEMPLATE';
  const forms = readdirSync(folder).filter((file) => file !== 'config.yml');
  const parsed = (file: string): Form => parse(read(folder, file));

  test.each(forms)('%s has each question once', (file) => {
    const { name, description, body } = parsed(file);
    expect([name, description]).not.toContain(undefined);
    const questions = body.filter(({ type }) => type !== 'markdown');
    const ids = questions.map(({ id }) => id);
    expect(new Set(ids).size).toBe(questions.length);
    for (const { type, id, attributes } of questions) {
      expect(['input', 'textarea', 'checkboxes']).toContain(type);
      expect(id).toMatch(/^[a-z-]+$/);
      expect(attributes.label, id).toBeTruthy();
    }
  });

  test.each(forms)(
    '%s warns about secrets, and refers security problems to another place',
    (file) => {
      const text = read(folder, file);
      expect(text).toContain("Never paste a real secret, a real signature or a buyer's data.");
      expect(text).toContain('SECURITY.md');
    },
  );

  test('cannot be bypassed', () => {
    expect(parse(read(folder, 'config.yml'))).toEqual({ blank_issues_enabled: false });
  });

  test('contain a .hook.json that gets its expected answer', async () => {
    const { body } = parsed('1-delivery.yml');
    const shown = body.find(({ id }) => id === 'fixture')?.attributes.placeholder ?? '';
    const temporary = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
    try {
      const file = join(temporary, 'shown.hook.json');
      writeFileSync(file, shown);
      const secret = 'a secret for tests';
      const { status, outcome, fixture } = await replay(
        createReceiver({ secret }).on('*', () => {}),
        file,
        { secret },
      );
      expect({ status, outcome }).toEqual(fixture.expect);
      expect(fixture.expect).toEqual({ status: 200, outcome: 'handled' });
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  });
});

describe('the decisions', () => {
  const decisions = readdirSync('decisions').sort();

  test('are numbered without gaps', () => {
    expect(decisions.map((file) => file.slice(0, 5))).toEqual(
      decisions.map((_, index) => `${String(index + 1).padStart(4, '0')}-`),
    );
  });

  test.each(decisions)('%s has a title and then a reason', (file) => {
    expect(file).toMatch(/^\d{4}(-[a-z0-9]+)+\.md$/);
    expect(read('decisions', file)).toMatch(/^# [A-Z].+[^.\n]\n\n[^#\n]/);
  });
});

describe('a release', () => {
  test('has its section in the changelog', () => {
    expect(readFileSync('CHANGELOG.md', 'utf8')).toContain(`\n## ${manifest.version}\n`);
  });

  test('is installed from any registry: the lock files name none', () => {
    for (const folder of ['.', 'test/runtimes']) {
      expect(read(folder, 'package-lock.json'), folder).not.toContain('"resolved"');
    }
  });
});
