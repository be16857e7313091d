export type { SqliteDatabase } from './database.js';
export { type SqliteLedger, sqliteLedger } from './ledger.js';
export { sqliteSchema } from './schema.js';
export { sqliteStore } from './store.js';
