import { sqliteStore } from 'storefront-webhooks/sqlite';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Returns the message for a wrong argument in plain JavaScript. */
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
  'an object that is not a database is rejected: %o',
  (given) => {
    expect(refusal(given)).toMatch(/^sqliteStore needs an open database, such as new Database/);
  },
);

test('a path is rejected with a hint that it is a path', () => {
  expect(refusal('webhooks.db')).toMatch(/needs an open database, not a path, such as/);
});

test('with node:sqlite, the message shows how to open a database with it', () => {
  builtIn(() => ({}));
  expect(refusal(undefined)).toContain('new DatabaseSync("webhooks.db") of node:sqlite.');
});

test.each([
  ['lacks it', () => undefined],
  [
    'throws when asked',
    () => {
      throw new Error('no');
    },
  ],
])('if the runtime %s, the message shows better-sqlite3 and how to install it', (_, find) => {
  builtIn(find);
  expect(refusal(undefined)).toContain(
    'new Database("webhooks.db") of better-sqlite3 (npm install better-sqlite3).',
  );
});

test('without a process object, the message shows better-sqlite3', () => {
  vi.stubGlobal('process', undefined);
  expect(refusal(undefined)).toContain('better-sqlite3');
});

test('on Bun, the message shows its own driver', () => {
  vi.stubGlobal('Bun', {});
  builtIn(() => ({}));
  expect(refusal(undefined)).toContain('new Database("webhooks.db") of bun:sqlite.');
});
