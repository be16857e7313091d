import { checkBinding } from '../durable-object/namespace.js';
import { FIND_LAYOUT, isThereByNow, remedyFor, updatesFrom } from '../sqlite/schema.js';

/** The part of Cloudflare's `D1PreparedStatement` that this package uses. */
export interface D1Statement {
  bind(...values: unknown[]): D1Statement;
  all(): Promise<{ readonly results: unknown[] }>;
}

/** The part of Cloudflare's `D1Database`, or of its session, that this package uses. */
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

/** Runs statements. If a table or a column is missing, creates it and runs the statements again. */
export async function withTables<Result>(
  database: D1Client,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const remedy = remedyFor(error);
    if (remedy.length === 0) throw error;
    // The failed statements changed nothing, so they can run again.
    await update(database, remedy);
    return work();
  }
}

/** @throws {WebhookError} `schema_newer` */
export async function checkTables(database: D1Client): Promise<void> {
  const [row] = (await database.prepare(FIND_LAYOUT).all()).results;
  await update(database, updatesFrom(row, 'D1'));
}

async function update(database: D1Client, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    try {
      await database.prepare(statement).all();
    } catch (error) {
      if (!isThereByNow(error)) throw error;
    }
  }
}
