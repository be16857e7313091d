import { Hono } from 'hono';
import { Faults } from './faults.js';
import { type Listening, listen } from './listen.js';
import type { SandboxOptions } from './options.js';
import { Account } from './state/account.js';
import type { Market, Outbox, Supplier } from './trade/market.js';
import { chooseUnknowns } from './unknowns.js';

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

/** All accounts of a sandbox. */
export interface Markets extends Iterable<Market> {
  /** The one of a key, which is made when it is first asked for. */
  open(key: string): Market;
  /** The one of a name, which is the key without `sk_test_`, if there is one. */
  find(name: string): Market | undefined;
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
  const { seed, clock = 'real', gateways, webhookSecret } = options;
  const given = { ...options.unknowns, ...(options.variant && { variant: options.variant }) };
  const unknowns = chooseUnknowns(given, seed);
  const start = Date.now();
  let ahead = 0;
  const opened = new Map<string, Market>();
  const faults = new Faults();
  const markets: Markets = {
    open(key) {
      const found = opened.get(key);
      if (found) return found;
      const defaults = { clock, start: start + ahead, gateways, webhookSecret };
      const account = new Account(key, defaults);
      const market = { account, unknowns, faults: new Faults(), outbox, supplier };
      opened.set(key, market);
      return market;
    },
    find: (name) => opened.get(`sk_test_${name}`),
    [Symbol.iterator]: () => opened.values(),
  };
  const app = new Hono();
  const fetch: Sandbox['fetch'] = async (request, init) => app.fetch(new Request(request, init));
  return {
    fetch,
    listen: ({ port = 0 } = {}) => listen(fetch, port),
    account: (key) => markets.open(key).account,
    clock: {
      now: () => start + ahead,
      async advance(ms) {
        ahead += ms;
        await Promise.all([...markets].map(({ account }) => account.clock.advance(ms)));
      },
    },
    faults,
    async close() {
      for (const { account } of markets) account.clock.close();
    },
  };
}
