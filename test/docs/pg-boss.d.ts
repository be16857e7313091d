/** The parts of pg-boss 12 that the docs use, in place of its types on a machine without test/runtimes. */
import type { Boss } from 'storefront-webhooks/pg-boss';

export interface PgBoss extends Boss {
  start(): Promise<this>;
  on(event: 'error', listener: (error: Error) => void): this;
}

export const PgBoss: new (options: { connectionString?: string; host?: string }) => PgBoss;
