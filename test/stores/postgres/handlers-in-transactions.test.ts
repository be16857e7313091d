import { postgresStore } from 'storefront-webhooks/postgres';
import { openPglite } from '../../support/pglite.js';
import { describeTransactions, TABLE } from '../transactions.js';

describeTransactions('PGlite', async () => {
  const database = await openPglite();
  await database.exec(TABLE);
  return {
    store: postgresStore(database),
    other: postgresStore(database),
    run: (tx, statement) => tx.query(statement),
    exec: (statements) => database.exec(statements),
    sold: async () => (await database.query('SELECT * FROM sold')).rows.length,
  };
});
