import { sqliteStore } from 'storefront-webhooks/sqlite';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** What plain JavaScript is told that passes something else. */
function refusal(given: unknown): string {
  try {
    sqliteStore(given as Parameters<typeof sqliteStore>[0]);
  } catch (error) {
    expect(error).toMatchObject({ name: 'UsageError', code: 'client_invalid' });
    return error instanceof Error ? error.message : '';
  }
  return 'nothing';
}

const builtIn = (find: () => object | undefined) =>
  vi.stubGlobal('process', { ...process, getBuiltinModule: find });

test.each([undefined, null, {}, 1, { prepare() {} }, { exec() {} }])(
  'something else than a database is refused: %o',
  (given) => {
    expect(refusal(given)).toMatch(/^sqliteStore needs an open database, such as new Database/);
  },
);

test('a path is refused, and called one', () => {
  expect(refusal('webhooks.db')).toMatch(/needs an open database, not a path, such as/);
});

test('where node:sqlite is there, it is what opens one', () => {
  builtIn(() => ({}));
  expect(refusal(undefined)).toContain('new DatabaseSync("webhooks.db") of node:sqlite.');
});

test.each([
  ['lacks it', () => undefined],
  [
    'refuses to look',
    () => {
      throw new Error('no');
    },
  ],
])('where the runtime %s, better-sqlite3 is, and how it is installed', (_, find) => {
  builtIn(find);
  expect(refusal(undefined)).toContain(
    'new Database("webhooks.db") of better-sqlite3 (npm install better-sqlite3).',
  );
});

test('where there is no process at all, better-sqlite3 is', () => {
  vi.stubGlobal('process', undefined);
  expect(refusal(undefined)).toContain('better-sqlite3');
});

test('on Bun, its own is', () => {
  vi.stubGlobal('Bun', {});
  builtIn(() => ({}));
  expect(refusal(undefined)).toContain('new Database("webhooks.db") of bun:sqlite.');
});
