// The receiver of a shop that also exports the ledger in which it enters what it has delivered.
import { sqliteLedger } from 'storefront-webhooks/sqlite';
import { database } from './receiver.js';

export { receiver } from './receiver.js';

export const ledger = {
  entered: (keys: readonly string[]) => sqliteLedger().entered(database, keys),
};
