import { Hono } from 'hono';
import { UsageError } from '../errors/errors.js';
import { refuseUnknownOption } from '../errors/text.js';
import { type SandboxAccount, toSandboxAccount } from './control/account.js';
import { advance, checkAdvance } from './control/advance.js';
import { controlRoutes } from './control/routes.js';
import type { FaultPlan } from './faults.js';
import { type Listening, listen } from './listen.js';
import { openMarkets } from './markets.js';
import { readOptions, type SandboxOptions } from './options.js';
import { answer } from './service/answer.js';
import { ErrorAnswer, toWhole } from './service/answers.js';
import { serviceRoutes } from './service/routes.js';
import { shopRoutes } from './shop/routes.js';
import { showAbsent } from './shop/sandbox-pages.js';
import { Account, isKey } from './state/account.js';
import { openJournal } from './state/journal.js';
import { openWebhooks, type Webhooks } from './webhooks/webhooks.js';

/** The provider's service on this machine, made by {@link createSandbox}. */
export interface Sandbox {
  /** Answers a request in this process, without a port: `createClient({ fetch: sandbox.fetch, … })`. */
  fetch(request: Request | string | URL, init?: RequestInit): Promise<Response>;
  /** Serves the sandbox on loopback. Default port: any that is free. */
  listen(options?: { port?: number }): Promise<Listening>;
  /**
   * Returns the account of a key such as `sk_test_alpha`. The first use of a key creates its account.
   *
   * @throws {UsageError} `option_invalid`, if the key does not begin with `sk_test_`.
   */
  account(key: string): SandboxAccount;
  /** The clock of all accounts. */
  readonly clock: {
    /** Milliseconds since 1970. */
    now(): number;
    /** Waits until no webhook is being sent, then moves the time ahead and runs everything due on the way. */
    advance(ms: number): Promise<void>;
  };
  /** The faults of all accounts. */
  readonly faults: FaultPlan;
  /** Resolves when no webhook is being sent. Does not wait for scheduled work, such as a retry. */
  idle(): Promise<void>;
  /** Stops the sandbox; a second call waits for the first one. Unsent webhooks are sent when another sandbox opens the same `db`. */
  close(): Promise<void>;
}

/**
 * Creates a sandbox: the provider's service, running in this process.
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
  // The sandbox keeps its own time like an account. No seller has this key, because each begins with sk_test_.
  const { clock } = new Account('', { ...defaults, start: Date.now() }, journal);
  const now = () => clock.now();
  const webhooks: Webhooks[] = [];
  const markets = openMarkets({
    unknowns,
    connect(place, faults) {
      const opened = openWebhooks(place, { headerPrefix, allowHosts, faults, onAttempt });
      webhooks.push(opened);
      return opened.market;
    },
    journal,
    defaults: () => ({ ...defaults, start: now() }),
  });
  const app = new Hono();
  app.route('/', serviceRoutes(markets));
  app.route('/', controlRoutes(markets));
  app.route('/', shopRoutes(markets));
  app.notFound((context) => {
    const { path } = context.req;
    const isPage = context.req.header('accept')?.includes('text/html');
    if (isPage && !/^\/(api|sandbox)\//.test(path)) return showAbsent();
    return answer(context, markets, () => {
      throw new ErrorAnswer(404);
    });
  });
  const listening = new Set<Listening>();
  let closing: Promise<void> | undefined;
  return {
    async fetch(request, init) {
      if (closing) return toWhole(CLOSED.toResponse());
      return toWhole(await app.fetch(new Request(request, init)));
    },
    async listen(options = {}) {
      const port = readPort(options);
      if (closing) {
        const message = 'sandbox.listen: the sandbox was closed. Create another one.';
        throw new UsageError('option_invalid', message);
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
      now,
      async advance(ms) {
        checkAdvance(now(), ms);
        await Promise.all([clock.advance(ms), ...Array.from(markets, (one) => advance(one, ms))]);
      },
    },
    faults: markets.faults,
    async idle() {
      await Promise.all([...markets].map(({ outbox }) => outbox.idle()));
    },
    close() {
      closing ??= close();
      return closing;
    },
  };

  async function close(): Promise<void> {
    await Promise.all([...listening].map((served) => served.close()));
    await Promise.all(webhooks.map((one) => one.close()));
    for (const { account } of markets) account.clock.close();
    journal?.close();
  }
}

function readPort(options: { port?: number }): number {
  const { port = 0 } = options;
  const wrong =
    typeof options !== 'object'
      ? `sandbox.listen takes an object. Write sandbox.listen({ port: ${options} }).`
      : port >= 0 && port <= 65_535 && Number.isInteger(port)
        ? undefined
        : 'sandbox.listen: the port has to be a whole number from 0 to 65535. 0 takes any free port.';
  if (wrong !== undefined) throw new UsageError('option_invalid', wrong);
  refuseUnknownOption('sandbox.listen', options, ['port']);
  return port;
}

const CLOSED = new ErrorAnswer(503, { message: 'The sandbox was closed.' });
