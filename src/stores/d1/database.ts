import { checkBinding } from '../durable-object/binding.js';
import { DELIVERY, EFFECT } from '../sqlite/schema.js';

/** The part of Cloudflare's `D1PreparedStatement` that is used. */
export interface D1Statement {
  bind(...values: unknown[]): D1Statement;
  all(): Promise<{ readonly results: unknown[] }>;
}

/** The part of Cloudflare's `D1Database`, or of a session of it, that is used. */
export interface D1Client {
  prepare(query: string): D1Statement;
  batch(statements: D1Statement[]): Promise<{ readonly results: unknown[] }[]>;
}

/** @throws {UsageError} `client_invalid` */
export function checkD1(database: unknown, who: string): void {
  checkBinding(database, {
    who,
    methods: ['prepare', 'batch'],
    what: 'a D1 database, such as env.DB',
    config: '"d1_databases": [{ "binding": "DB", "database_name": "…", "database_id": "…" }].',
  });
}

/** Does it again once the tables are made, where they have been missing. */
export async function withTables<Result>(
  database: D1Client,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    // Nothing was done, so that it may be done again.
    if (!isWithoutTables(error)) throw error;
    await database.batch([...DELIVERY, EFFECT].map((statement) => database.prepare(statement)));
    return work();
  }
}

function isWithoutTables(error: unknown): boolean {
  return error instanceof Error && /no such table: webhook_(?:delivery|effect)/.test(error.message);
}
