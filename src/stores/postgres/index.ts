export type { PostgresClient } from './client.js';
export { postgresLedger } from './ledger.js';
export { postgresSchema } from './schema.js';
export { postgresStore } from './store.js';
