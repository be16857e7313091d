/** What the docs use of pg-boss 12. It stands for the real types on a machine without test/runtimes. */
import type { Boss } from 'storefront-webhooks/pg-boss';

export interface PgBoss extends Boss {
  start(): Promise<this>;
  on(event: 'error', listener: (error: Error) => void): this;
}

export const PgBoss: new (options: { connectionString?: string; host?: string }) => PgBoss;
