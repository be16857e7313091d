import { Hono } from 'hono';
import { writeLine } from '../report/log.js';
import type { Faults } from './faults.js';
import { type Listening, listen } from './listen.js';
import { openMarkets } from './markets.js';
import { readOptions, type SandboxOptions } from './options.js';
import { serviceRoutes } from './service/routes.js';
import type { Account } from './state/account.js';
import { openJournal } from './state/journal.js';
import type { Outbox, Supplier } from './trade/market.js';

/** The provider's service on this machine, made by {@link createSandbox}. */
export interface Sandbox {
  /** Answers a request without a port: `createClient({ fetch: sandbox.fetch, … })`. */
  fetch(request: Request | string | URL, init?: RequestInit): Promise<Response>;
  /** Serves it on loopback. */
  listen(options?: { port?: number }): Promise<Listening>;
  /** The account of a key such as `sk_test_alpha`. */
  account(key: string): Account;
  /** The time of all accounts. */
  readonly clock: { now(): number; advance(ms: number): Promise<void> };
  /** What goes wrong in all accounts. */
  readonly faults: Faults;
  /** Ends it. What was to be sent is sent when the sandbox of the same `db` begins again. */
  close(): Promise<void>;
}

// Until webhooks/ stands.
const outbox: Outbox = { tell() {} };
const supplier: Supplier = { supply() {} };

/**
 * Makes a sandbox: the provider's service itself, in this process.
 *
 * @throws {UsageError} `option_invalid`
 *
 * @example
 * const sandbox = createSandbox();
 * const client = createClient({
 *   baseUrl: 'http://localhost',
 *   auth: { accessToken: 'sk_test_alpha' },
 *   fetch: sandbox.fetch,
 * });
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const { unknowns, db, ...defaults } = readOptions(options);
  const journal = db === undefined ? undefined : openJournal(db);
  if (db !== undefined && !journal) writeLine(NO_SQLITE, 'warn');
  const start = Date.now();
  let ahead = 0;
  const markets = openMarkets({
    unknowns,
    outbox,
    supplier,
    journal,
    defaults: () => ({ ...defaults, start: start + ahead }),
  });
  const app = new Hono();
  app.route('/', serviceRoutes(markets));
  const listening = new Set<Listening>();
  return {
    fetch: async (request, init) => app.fetch(new Request(request, init)),
    async listen({ port = 0 } = {}) {
      const served = await listen((request) => app.fetch(request), port);
      listening.add(served);
      return served;
    },
    account: (key) => markets.open(key).account,
    clock: {
      now: () => start + ahead,
      async advance(ms) {
        ahead += ms;
        await Promise.all([...markets].map(({ account }) => account.clock.advance(ms)));
      },
    },
    faults: markets.faults,
    async close() {
      await Promise.all([...listening].map((served) => served.close()));
      for (const { account } of markets) account.clock.close();
      journal?.close();
    },
  };
}

const NO_SQLITE =
  'the sandbox keeps everything in memory only, because there is no SQLite: run it on Node 22.13 or later, or install libsql.';
