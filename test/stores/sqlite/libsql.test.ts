import Database from 'libsql';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { expect, test } from 'vitest';

test('sqliteStore rejects libsql 0.3 by its name and version', () => {
  const database = new Database(':memory:');
  const exec = database.exec.bind(database);
  // libsql 0.3, which the nightly tests install, returns no rows from exec().
  database.exec = (sql) => {
    if (/^(?:SELECT|PRAGMA)/.test(sql)) throw new Error('Execute returned rows');
    return exec(sql);
  };
  expect(() => sqliteStore(database)).toThrow(
    expect.objectContaining({
      code: 'version_unsupported',
      message: expect.stringContaining(
        'sqliteStore() needs libsql 0.4 or later, and this is an earlier version: npm install libsql@latest.',
      ),
    }),
  );
});
