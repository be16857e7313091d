export type { PostgresClient } from './client.js';
export { type PostgresLedger, postgresLedger } from './ledger.js';
export type { PostgresJs } from './postgres-js.js';
export { postgresSchema } from './schema.js';
export { type PostgresStoreOptions, postgresStore } from './store.js';
export type { Pglite, PgPool, PgPoolClient, TransactionSource } from './transaction.js';
