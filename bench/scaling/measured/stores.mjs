import { postgresPool, postgresProcess, redisClient, redisProcess } from './servers.mjs';

/** Opens the store that a task names. Returns it with the process id of its server. */
export async function openStore({ store, file, url, connections }) {
  if (store === 'memory') {
    const { memoryStore } = await import('../../../dist/index.js');
    return { store: memoryStore() };
  }
  if (store === 'sqlite') {
    const { DatabaseSync } = await import('node:sqlite');
    const { sqliteStore } = await import('../../../dist/sqlite.js');
    return { store: sqliteStore(new DatabaseSync(file)) };
  }
  if (store === 'postgres') {
    const { postgresStore } = await import('../../../dist/postgres.js');
    const pool = postgresPool(url, connections);
    return { store: postgresStore(pool), server: await postgresProcess(pool) };
  }
  const { redisStore } = await import('../../../dist/redis.js');
  const client = redisClient(url);
  return { store: redisStore(client), server: await redisProcess(client) };
}
