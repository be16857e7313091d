import { Hono } from 'hono';
import { UsageError } from '../errors.js';
import { type SandboxAccount, toSandboxAccount } from './control/account.js';
import { advance } from './control/advance.js';
import { controlRoutes } from './control/routes.js';
import type { FaultPlan } from './faults.js';
import { type Listening, listen } from './listen.js';
import { openMarkets } from './markets.js';
import { readOptions, type SandboxOptions } from './options.js';
import { answer } from './service/answering.js';
import { ErrorAnswer, toWhole } from './service/answers.js';
import { serviceRoutes } from './service/routes.js';
import { shopRoutes } from './shop/routes.js';
import { isKey } from './state/account.js';
import { openJournal } from './state/journal.js';
import { openWebhooks, type Webhooks } from './webhooks/webhooks.js';

/** The provider's service on this machine, made by {@link createSandbox}. */
export interface Sandbox {
  /** Answers a request without a port: `createClient({ fetch: sandbox.fetch, … })`. */
  fetch(request: Request | string | URL, init?: RequestInit): Promise<Response>;
  /** Serves it on loopback. */
  listen(options?: { port?: number }): Promise<Listening>;
  /**
   * The account of a key such as `sk_test_alpha`, which is made when it is first asked for.
   *
   * @throws {UsageError} `option_invalid`, where the key does not begin with `sk_test_`.
   */
  account(key: string): SandboxAccount;
  /** The time of all accounts. */
  readonly clock: {
    /** Milliseconds since 1970. */
    now(): number;
    /** Moves it ahead once nothing is being sent, and does what is due on the way. */
    advance(ms: number): Promise<void>;
  };
  /** What goes wrong in all accounts. */
  readonly faults: FaultPlan;
  /** Resolves when no webhook is being sent. What waits for a time, such as a retry, is not waited for. */
  idle(): Promise<void>;
  /** Ends it. What was to be sent is sent when the sandbox of the same `db` begins again. */
  close(): Promise<void>;
}

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
  const { unknowns, db, headerPrefix, allowHosts, onAttempt, ...defaults } = readOptions(options);
  const journal = db === undefined ? undefined : openJournal(db);
  const start = Date.now();
  let ahead = 0;
  const webhooks: Webhooks[] = [];
  const markets = openMarkets({
    unknowns,
    connect(place, faults) {
      const opened = openWebhooks(place, { headerPrefix, allowHosts, faults, onAttempt });
      webhooks.push(opened);
      return opened.market;
    },
    journal,
    defaults: () => ({ ...defaults, start: start + ahead }),
  });
  const app = new Hono();
  app.route('/', serviceRoutes(markets));
  app.route('/', controlRoutes(markets));
  app.route('/', shopRoutes(markets));
  app.notFound((context) =>
    answer(context, markets, () => {
      throw new ErrorAnswer(404);
    }),
  );
  const listening = new Set<Listening>();
  let isClosed = false;
  return {
    async fetch(request, init) {
      if (isClosed) return toWhole(CLOSED.toResponse());
      return toWhole(await app.fetch(new Request(request, init)));
    },
    async listen({ port = 0 } = {}) {
      if (isClosed || !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
        throw new UsageError(
          'option_invalid',
          isClosed
            ? 'sandbox.listen: the sandbox was closed. Make another one.'
            : `sandbox.listen: the port has to be a whole number from 0, which takes any that is free, to 65535.`,
        );
      }
      const served = await listen((request) => app.fetch(request), port);
      listening.add(served);
      return served;
    },
    account(key) {
      if (isKey(key)) return toSandboxAccount(markets.open(key));
      throw new UsageError(
        'option_invalid',
        'sandbox.account: the key of an account begins with sk_test_, such as sk_test_alpha.',
      );
    },
    clock: {
      now: () => (defaults.clock === 'real' ? Date.now() : start) + ahead,
      async advance(ms) {
        ahead += ms;
        await Promise.all([...markets].map((market) => advance(market, ms)));
      },
    },
    faults: markets.faults,
    async idle() {
      await Promise.all([...markets].map(({ outbox }) => outbox.idle()));
    },
    async close() {
      isClosed = true;
      await Promise.all([...listening].map((served) => served.close()));
      await Promise.all(webhooks.map((one) => one.close()));
      for (const { account } of markets) account.clock.close();
      journal?.close();
    },
  };
}

const CLOSED = new ErrorAnswer(503, { message: 'The sandbox was closed.' });
