import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as metrics from '../../src/report/opentelemetry/names.js';
import { OUTCOMES } from '../../src/request/outcome.js';
import { run } from '../cli/command.js';
import { anchors, blocks, PAGES, type Page, pageAt, prose } from './pages.js';

const byPath = new Map(PAGES.map((page) => [page.path, page]));
const docs = PAGES.filter(({ path }) => path === 'README.md' || path.startsWith('docs/'));
const lines = ({ text }: Page) => text.trimEnd().split('\n').length;

/** The targets of a page's links within the repository. */
function links(page: Page): { target: string; anchor: string | undefined }[] {
  return Array.from(prose(page).matchAll(/\]\((?!https:\/\/)([^)\s]*)\)/g), ([, link = '']) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page.path : normalize(join(dirname(page.path), path));
    return { target: target.replace(/\/$/, ''), anchor };
  });
}

describe('the pages', () => {
  test('README.md is one page: at most 180 lines and 900 words', () => {
    const text = readFileSync('README.md', 'utf8');
    expect(text.split('\n').length).toBeLessThanOrEqual(180);
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(900);
  });

  test('hand-written pages have at most 200 lines', () => {
    const long = docs.filter((page) => !page.isGenerated && lines(page) > 200);
    expect(long.map((page) => `${page.path}: ${lines(page)}`)).toEqual([]);
  });

  test('scaling.md computes its text with the bytes of its table', () => {
    const text = readFileSync('docs/scaling.md', 'utf8');
    const [, sqlite, postgres] = /SQLite (\d+), PostgreSQL (\d+)/.exec(text) ?? [];
    const bytes = (rate: number, days: number) => rate * 86_400 * days * Number(postgres);
    const [month, week] = [30, 7].map((days) => Math.round(bytes(100, days) / 1e9));
    expect(text).toContain(`259 million rows in 30 days are ${month} GB; in 7, ${week} GB.`);
    expect(text).toContain(`6 billion rows, or ${(bytes(10_000, 7) / 1e12).toFixed(1)} TB.`);
    expect(text).toContain(`as in SQLite, ${sqlite} bytes`);
  });

  test('name both times that BullMQ waits before it gives out the job of a killed worker', () => {
    const waits = docs
      .flatMap((page) => (page.isGenerated ? [] : prose(page).split('\n')))
      .filter((line) => line.includes('`lockDuration`'));
    expect(waits.length).toBeGreaterThan(0);
    expect(waits.filter((line) => !line.includes('`stalledInterval`'))).toEqual([]);
  });

  test('programs that stop on SIGTERM stop on SIGINT, too, which PM2 sends', () => {
    const examples = readdirSync('examples', { encoding: 'utf8', recursive: true })
      .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
      .map((file) => ({
        path: `examples/${file}`,
        text: readFileSync(`examples/${file}`, 'utf8'),
      }));
    const programs = [...docs, ...examples].filter(({ text }) => text.includes("'SIGTERM'"));
    expect(programs.length).toBeGreaterThan(20);
    const deaf = programs.filter(
      ({ text }) =>
        !text.includes("['SIGTERM', 'SIGINT']") ||
        /(?:once|on|addSignalListener)\('SIGTERM'/.test(text),
    );
    expect(deaf.map(({ path }) => path)).toEqual([]);
  });

  test('programs that create a SQLite table wait for other processes that create it, too', () => {
    const programs = docs
      .flatMap((page) => blocks(page, 'ts'))
      .filter((code) => /new Database/.test(code) && /\.exec\([^)]*CREATE TABLE/.test(code));
    expect(programs.length).toBeGreaterThan(2);
    expect(programs.filter((code) => !/\{ timeout: |busy_timeout/.test(code))).toEqual([]);
  });

  test('links and anchors have a target', () => {
    const dead = PAGES.flatMap((page) =>
      links(page)
        .filter(({ target, anchor }) => {
          if (!existsSync(target)) return true;
          const of = byPath.get(target);
          return anchor !== undefined && !(of && anchors(of).includes(anchor));
        })
        .map(({ target, anchor = '' }) => `${page.path}: ${target}#${anchor}`),
    );
    expect(dead).toEqual([]);
  });

  test('links lead only to files in the package', () => {
    const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
    // README.md also links to two places that only the repository has.
    const repository = ['CONTRIBUTING.md', '.github/ISSUE_TEMPLATE'];
    const held = [...files, 'README.md', 'LICENSE', 'package.json', ...repository];
    const outside = docs
      .flatMap((page) => links(page).map(({ target }) => `${page.path}: ${target}`))
      .filter((link) => !held.some((path) => link.split(': ')[1]?.startsWith(path)));
    expect(outside).toEqual([]);
  });

  test('are all reachable from README.md', () => {
    const reached = new Set(['README.md']);
    for (const path of reached) {
      const page = byPath.get(path);
      for (const { target } of page ? links(page) : []) {
        if (byPath.has(target)) reached.add(target);
        else if (existsSync(target) && statSync(target).isDirectory())
          for (const { path } of docs) if (path.startsWith(`${target}/`)) reached.add(path);
      }
    }
    expect(docs.filter(({ path }) => !reached.has(path)).map(({ path }) => path)).toEqual([]);
  });

  test('are all in the sidebar of the site, once', () => {
    const groups: Readonly<Record<string, readonly string[]>> = JSON.parse(
      readFileSync('site/.vitepress/sidebar.json', 'utf8'),
    );
    // These folders have their own groups in the sidebar.
    const inFolders = /^docs\/(recipes|api)\/(?!README)/;
    const expected = docs.map(({ path }) => path).filter((path) => !inFolders.test(path));
    expect(Object.values(groups).flat().sort()).toEqual(
      [...expected, 'CHANGELOG.md', 'SECURITY.md'].sort(),
    );
  });
});

test('README.md and docs/start.md begin with the same receiver', () => {
  const [first, second] = ['README.md', 'docs/start.md'].map((path) => {
    const [program = ''] = blocks(pageAt(path), 'ts');
    const [receiver] = /const database .*transaction: true \}\);/s.exec(program) ?? [];
    return receiver?.replace(/ \/\/.*/, '');
  });
  expect(first).toBeDefined();
  expect(first).toBe(second);
});

test("the copied wrangler.jsonc on the page of Workers is the beginning of the example's", () => {
  const [, main] =
    /"main": "([^"]+)"/.exec(readFileSync('examples/workers/wrangler.jsonc', 'utf8')) ?? [];
  expect(readFileSync('docs/mount.md', 'utf8')).toContain(
    `// ${main}\nimport type { DurableObjectNamespace }`,
  );
});

/** Names of other projects and of earlier versions on the pages, each checked there. */
const OTHERS = [
  'QueueHandlerOptions', // version 0.1.0
  'TimeoutStopSec', // systemd
  'binaryMediaTypes', // API Gateway
  'bullmqProcessor', // version 0.1.0
  'constructEvent', // stripe
  'createNodeMiddleware', // octokit
  'disconnectTimeout', // ioredis
  'generateTestHeaderString', // stripe
  'headersTimeout', // node:http
  'lockDuration', // BullMQ
  'nextTick', // Node's process
  'noFloatingPromises', // Biome
  'onAny', // octokit
  'peerDependencies', // npm
  'productsCreate', // @hey-api/openapi-ts
  'sendStatus', // Express
  'stalledInterval', // bullmq
  'terminationGracePeriodSeconds', // Kubernetes
  'toFake', // sinon
  'toQueueHandler', // version 0.1.0
  'useFakeTimers', // sinon
  'verifyAndReceive', // octokit
];

describe('the pages name only', () => {
  test('scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    // Examples may be projects of their own.
    const ours = PAGES.filter(({ path }) => !path.startsWith('examples/'));
    const named = ours.flatMap(({ path, text }) =>
      Array.from(text.matchAll(/\bnpm run (?!-)([\w-]+)/g), ([, script = '']) => [path, script]),
    );
    expect(named.filter(([, script = '']) => !(script in scripts))).toEqual([]);
  });

  // Loads the whole command line.
  test('commands and options that the command line has', { timeout: 60_000 }, async () => {
    const named = PAGES.flatMap((page) =>
      Array.from(
        page.text
          .replaceAll('\\\n', ' ')
          .matchAll(/npx storefront-webhooks ((?:dead )?[a-z]+)([^\n`]*)/g),
        ([, command = '', rest = '']) =>
          Array.from(rest.matchAll(/(?<= )--[a-z-]+/g), ([flag]) => ({ page, command, flag })),
      ).flat(),
    );
    const help = new Map<string, string>();
    for (const command of new Set(named.map(({ command }) => command))) {
      help.set(command, (await run([...command.split(' '), '--help'])).stdout);
    }
    const unknown = named
      .filter(({ command, flag }) => !new RegExp(`${flag}\\b`).test(help.get(command) ?? ''))
      .map(({ page, command, flag }) => `${page.path}: ${command} ${flag}`);
    expect(unknown).toEqual([]);
  });

  test('imports that the package exports', () => {
    const exported = new Set<string>();
    let from = '';
    for (const line of readFileSync('test/package/surface.txt', 'utf8').split('\n')) {
      if (line.startsWith(' ')) exported.add(`${line.trim()} from ${from}`);
      else from = line.replace(/^\./, 'storefront-webhooks');
    }
    const named = docs.flatMap((page) =>
      Array.from(
        prose(page).matchAll(/`(\w+)(?:\([^`]*\))?` from `(storefront-webhooks[\w/-]*)`/g),
        ([, name = '', subpath = '']) => `${name} from ${subpath}`,
      ),
    );
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((name) => !exported.has(name))).toEqual([]);
  });

  test('settings that the code has', () => {
    const sources = ['src', 'adapters', 'examples'].flatMap((folder) =>
      readdirSync(folder, { encoding: 'utf8', recursive: true })
        .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
        .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
    );
    const known = new Set([...sources.join('\n').matchAll(/\w+/g)].map(([word]) => word));
    const named = PAGES.filter(({ isGenerated }) => !isGenerated).flatMap((page) =>
      Array.from(prose(page).matchAll(/`([^`\n]+)`/g), ([, code = '']) => code).flatMap((code) =>
        Array.from(
          code.matchAll(/\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b\w+(?=\()/g),
          ([word]) => word,
        ),
      ),
    );
    expect(named.length).toBeGreaterThan(300);
    const unknown = new Set(named.filter((word) => !known.has(word)));
    expect([...unknown].sort()).toEqual(OTHERS);
  });

  test('settings of a Worker that its wrangler.jsonc has', () => {
    const program = blocks(pageAt('docs/mount.md'), 'ts').find((one) => one.includes('toWorker('));
    const [, named] = /^\/\/ (\S+)/.exec(program ?? '') ?? [];
    const settings = readFileSync('examples/workers/wrangler.jsonc', 'utf8');
    expect(named).toBeDefined();
    expect(settings).toContain(`"main": "${named}"`);
  });

  test('metrics, labels, outcomes and states in alarms that the code has', () => {
    const rules = docs.flatMap((page) => blocks(page, 'yaml')).join('\n');
    const names = Object.values(metrics).map((name) => name.replaceAll('.', '_'));
    const asked = Array.from(rules.matchAll(/storefront_webhooks\w+/g), ([name]) => name);
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.filter((name) => !names.includes(name.replace(/_total$/, '')))).toEqual([]);
    const values = Array.from(rules.matchAll(/"([\w|]+)"/g), ([, one = '']) => one.split('|'));
    const known: readonly string[] = [...OUTCOMES, 'dead', 'stalled', 'failing', 'onPaid'];
    expect(values.flat().filter((one) => !known.includes(one))).toEqual([]);
  });

  test('code blocks whose language is tested or marked as untested', () => {
    const languages = ['ts', 'sh', 'console', 'json', 'jsonc', 'js', 'sql', 'yaml', ''];
    const found = docs.flatMap((page) =>
      Array.from(page.text.matchAll(/^```([^\n]*)\n.*?^```$/gms), ([, name = '']) => name),
    );
    expect(found.filter((name) => !languages.includes(name))).toEqual([]);
    expect(
      docs.flatMap((page) => blocks(page, 'json')).map((code) => JSON.parse(code)),
    ).not.toEqual([]);
  });
});
