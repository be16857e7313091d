import type { PGlite } from '@electric-sql/pglite';
import { postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { beforeAll, describe } from 'vitest';
import { openPglite } from '../../support/pglite.js';
import { describeStore } from '../suite.js';
import { AGE, EMPTY, STARTING_MS } from './claiming.js';

describe('PGlite', () => {
  let database: PGlite;

  beforeAll(async () => {
    database = await openPglite();
    await database.exec(postgresSchema());
  }, STARTING_MS);

  describeStore(
    'PGlite',
    async () => {
      await database.exec(EMPTY);
      return postgresStore(database);
    },
    { age: () => database.exec(AGE) },
  );
});
