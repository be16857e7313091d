// The receiver of a shop that also exports the ledger of its deliveries.
import { sqliteLedger } from 'storefront-webhooks/sqlite';
import { database } from './receiver.js';

export { receiver } from './receiver.js';

export const ledger = {
  entered: (keys: readonly string[]) => sqliteLedger().entered(database, keys),
};
