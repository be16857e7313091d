/** Returns the client for both receivers of a store, with the README's limits. */
export async function connect() {
  const { STORE, STORE_URL } = process.env;
  switch (STORE) {
    case 'postgres': {
      const { default: pg } = await import('pg');
      return new pg.Pool({
        connectionString: STORE_URL,
        query_timeout: 5000,
        connectionTimeoutMillis: 5000,
        keepAlive: true,
      });
    }
    case 'sqlite': {
      const { DatabaseSync } = await import('node:sqlite');
      return new DatabaseSync(STORE_URL);
    }
    case 'redis': {
      const { Redis } = await import('ioredis');
      return new Redis(STORE_URL, {
        maxRetriesPerRequest: 1,
        connectTimeout: 5000,
        socketTimeout: 5000,
        retryStrategy: (times) => Math.min(times * 100, 1000),
      });
    }
  }
}
