import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError, type WebhookEndpoint } from 'storefront-webhooks';
import { createClient } from 'storefront-webhooks/api';
import {
  createSandbox,
  Refusal,
  type SandboxAccount,
  type SandboxOptions,
  type WebhookAttempt,
} from 'storefront-webhooks/sandbox';
import { isLoopback, parseAddress } from '../runtime/address.js';
import { toLine } from './columns.js';
import { toNumber, toPort } from './numbers.js';
import type { Printer } from './printer.js';
import type { Session } from './session.js';

interface Flags {
  readonly port: number;
  readonly db?: string;
  readonly variant: 'newer' | 'older';
  readonly webhookSecret?: string;
  readonly clock: 'real' | 'manual' | 'fast';
  readonly unknowns?: 'vary';
  readonly seed?: number;
  readonly seedShop?: true;
  readonly endpoint?: string;
}

/** Adds `sandbox`, which runs the provider's service on this machine until it is interrupted. */
export function addSandbox(program: Command, session: Session): void {
  program
    .command('sandbox')
    .summary('run the storefront itself on this machine')
    .description(
      'Runs the storefront itself on this machine: its API, a shop to buy in, and its webhooks.',
    )
    .option('--port <number>', 'the port to listen on; 0 takes any free port', toPort, 4010)
    .option('--db <file>', 'keep all data in this SQLite file (default: in memory)')
    .addOption(
      new Option('--variant <name>', 'the shape of products')
        .choices(['newer', 'older'])
        .default('newer'),
    )
    .option(
      '--webhook-secret <secret>',
      'the secret that signs the webhooks (default: one for each account)',
    )
    .addOption(
      new Option('--clock <mode>', 'how time passes')
        .choices(['real', 'manual', 'fast'])
        .default('real'),
    )
    .addOption(
      new Option(
        '--unknowns <how>',
        'if the specification is silent, pick among all legal behaviours, by --seed',
      ).choices(['vary']),
    )
    .option('--seed <number>', 'the seed for --unknowns', toNumber)
    .option('--seed-shop', 'fill the shop of sk_test_demo with products, orders and customers')
    .option(
      '--endpoint <url>',
      'send the webhooks of sk_test_demo to this URL: order:paid and order:updated',
      toEndpoint,
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx storefront-webhooks sandbox --seed-shop --endpoint http://localhost:3000/webhooks',
    )
    .action((flags: Flags) => run(flags, session));
}

/** Parses an address that webhooks may be sent to. An address of this machine may lack its `http://`. */
function toEndpoint(text: string): string {
  const isWhole = /^[a-z][a-z\d+.-]*:\/\//i.test(text);
  const url = parseAddress(isWhole ? text : `http://${text}`);
  const isNear = url !== undefined && isLoopback(url);
  if (!url || !(isWhole || isNear)) {
    throw new InvalidArgumentError('Give a URL, such as http://localhost:3000/webhooks.');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new InvalidArgumentError(
      'The URL has to begin with https://, or with http:// if the host is this machine.',
    );
  }
  if (url.protocol === 'http:' && !isNear) {
    throw new InvalidArgumentError(
      'Webhooks to another machine need HTTPS. Begin the URL with https://.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError('The URL must not contain a user name or a password.');
  }
  return isWhole ? text : `http://${text}`;
}

async function run(flags: Flags, { host, printer }: Session): Promise<void> {
  // Listen for signals first: they may arrive as soon as the address is printed.
  const interrupted = host.interrupted();
  if (flags.seed !== undefined && flags.unknowns === undefined) {
    throw new UsageError(
      'option_invalid',
      '--seed does nothing without --unknowns vary: give both. To fill the shop, give --seed-shop.',
    );
  }
  if (flags.webhookSecret !== undefined) {
    printer.note(
      'The secret is on the command line, where other users of this machine can see it.',
    );
  }
  const { url, demo, close } = await serve(flags, (attempt) =>
    printer.found({ time: new Date().toISOString(), ...attempt }, () =>
      attemptLine(attempt, printer),
    ),
  );
  try {
    if (flags.seedShop) await fill(demo, printer);
    if (flags.endpoint !== undefined) await register(url, flags.endpoint, flags.variant);
    tellWhere(url, demo, flags, printer);
    await interrupted;
  } finally {
    await close();
  }
}

/** Prints the addresses, the API key and the secret. */
function tellWhere(url: string, demo: SandboxAccount, flags: Flags, printer: Printer): void {
  const secret = demo.settings.webhook_secret;
  const account = { url, key: demo.key, secret };
  const addresses = {
    api: `${url}/api/v2/products`,
    shop: `${url}/shop/demo`,
    document: `${url}/openapi.json`,
  };
  const { endpoint, variant } = flags;
  // With --unknowns, a sandbox may accept only the scheme of its variant.
  const credentials =
    variant === 'older'
      ? `-u me@example.com:${demo.key}`
      : `-H 'Authorization: Bearer ${demo.key}'`;
  printer.found(
    { ...account, ...addresses, ...(endpoint === undefined ? {} : { endpoint }) },
    () => [
      printer.paint.bold(`The storefront is at ${url}`),
      `  API          ${addresses.api}`,
      `  key          ${account.key}, or any other sk_test_…: each is an account of its own`,
      `  secret       ${secret}`,
      `  document     ${addresses.document}`,
      `  shop         ${addresses.shop}`,
      ...(endpoint === undefined ? [] : [`  webhooks to  ${endpoint}`]),
      '',
      'Try:',
      `  curl ${credentials} ${addresses.api}`,
    ],
  );
}

async function serve(flags: Flags, onAttempt: (attempt: WebhookAttempt) => void) {
  const { port, db, variant, webhookSecret, clock, unknowns, seed } = flags;
  const options: SandboxOptions = {
    variant,
    clock,
    onAttempt,
    ...(db === undefined ? {} : { db }),
    ...(webhookSecret === undefined ? {} : { webhookSecret }),
    ...(unknowns === undefined ? {} : { seed: seed ?? 1 }),
  };
  const sandbox = createSandbox(options);
  try {
    // Opens the account now, so that its shop exists before the first request.
    const demo = sandbox.account('sk_test_demo');
    // The database file may have another secret, which was set in an earlier run.
    if (webhookSecret !== undefined && demo.settings.webhook_secret !== webhookSecret) {
      demo.set({ webhook_secret: webhookSecret });
    }
    const { url } = await sandbox.listen({ port });
    return { url, demo, close: () => sandbox.close() };
  } catch (error) {
    // The sandbox already sends the due webhooks of the database file, and would go on.
    await sandbox.close();
    throw error;
  }
}

/** Returns the line for an attempt in a terminal, similar to those of `send`. */
function attemptLine(attempt: WebhookAttempt, { paint, columns }: Printer): string {
  const { event, recordId = '', status, answer, retryAt } = attempt;
  const isGood = status >= 200 && status < 300;
  const again = retryAt ? `again at ${toTime(retryAt)}` : 'not sent again';
  return toLine(
    [
      { text: isGood ? '✓' : '✗', width: 1, rank: 9, paint: isGood ? paint.green : paint.red },
      { text: toTime(new Date()), width: 8, rank: 2, paint: paint.dim },
      { text: event, width: 14, rank: 6 },
      { text: recordId, width: 24, rank: 3 },
      { text: `${status || 'no answer'}`, width: 9, rank: 8 },
      { text: isGood ? '' : again, width: 20, rank: 7, paint: paint.dim },
      { text: isGood ? '' : answer, width: 24, rank: 0, paint: paint.dim },
    ],
    columns,
  );
}

function toTime(date: Date): string {
  return date.toTimeString().slice(0, 8);
}

/** Creates the endpoint, unless the database file has it already. Replaces one that is disabled. */
async function register(baseUrl: string, url: string, variant: Flags['variant']): Promise<void> {
  const key = 'sk_test_demo';
  // Signs in with the scheme of the variant: with --unknowns, the variant may accept no other.
  const auth =
    variant === 'older' ? { email: 'me@example.com', apiKey: key } : { accessToken: key };
  const { webhookEndpoints } = createClient({ baseUrl, auth });
  const disabled: WebhookEndpoint[] = [];
  for await (const endpoint of webhookEndpoints.list()) {
    if (endpoint.url !== url) continue;
    if (endpoint.enabled !== false) return;
    disabled.push(endpoint);
  }
  const [latest] = disabled;
  await webhookEndpoints.create({ url, events: latest?.events ?? ['order:paid', 'order:updated'] });
  // The API cannot enable an endpoint again.
  for (const { id } of disabled) await webhookEndpoints.delete(id);
}

/** Fills the shop, unless the database file has a filled one already. */
async function fill(account: SandboxAccount, printer: Printer): Promise<void> {
  try {
    await account.seed();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    printer.note('The shop of sk_test_demo exists already and was not changed.');
  }
}
