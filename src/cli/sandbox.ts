import { type Command, Option } from 'commander';
import { createClient } from 'storefront-webhooks/api';
import {
  createSandbox,
  Refusal,
  type SandboxAccount,
  type SandboxOptions,
  type WebhookAttempt,
} from 'storefront-webhooks/sandbox';
import { toLine } from './columns.js';
import { toNumber } from './numbers.js';
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

/** `sandbox`: serves the provider's service on this machine, until it is interrupted. */
export function addSandbox(program: Command, session: Session): void {
  program
    .command('sandbox')
    .summary('run the storefront itself on this machine')
    .description(
      'Runs the storefront itself on this machine: its API, a shop to buy in, and its webhooks.',
    )
    .option('--port <number>', 'the port; 0 takes any that is free', toNumber, 4010)
    .option('--db <file>', 'keep everything in this SQLite file (default: in memory)')
    .addOption(
      new Option('--variant <name>', 'the shape of products')
        .choices(['newer', 'older'])
        .default('newer'),
    )
    .option('--webhook-secret <secret>', 'signs the webhooks (default: one for each account)')
    .addOption(
      new Option('--clock <mode>', 'how time goes by')
        .choices(['real', 'manual', 'fast'])
        .default('real'),
    )
    .addOption(
      new Option(
        '--unknowns <how>',
        'pick among what is legal where the specification is silent, by --seed',
      ).choices(['vary']),
    )
    .option('--seed <number>', 'what --unknowns picks by', toNumber)
    .option('--seed-shop', 'fill the shop of sk_test_demo with products, orders and customers')
    .option('--endpoint <url>', 'send the webhooks of sk_test_demo there: orders that are paid')
    .addHelpText(
      'after',
      '\nExample:\n  npx storefront-webhooks sandbox --seed-shop --endpoint http://localhost:3000/webhooks',
    )
    .action((flags: Flags) => run(flags, session));
}

async function run(flags: Flags, { host, printer }: Session): Promise<void> {
  // From the beginning: it may be asked to end as soon as it has printed where it is.
  const interrupted = host.interrupted();
  if (flags.webhookSecret !== undefined) {
    printer.note(
      'The secret stands on the command line, where other users of this machine see it.',
    );
  }
  const { url, demo, close } = await serve(flags, (attempt) =>
    printer.found({ time: new Date().toISOString(), ...attempt }, () =>
      attemptLine(attempt, printer),
    ),
  );
  if (flags.seedShop) await fill(demo, printer);
  if (flags.endpoint !== undefined) await register(url, flags.endpoint);
  const secret = flags.webhookSecret ?? 'whsec_sk_test_demo';
  const account = { url, key: 'sk_test_demo', secret };
  const addresses = {
    api: `${url}/api/v2/products`,
    shop: `${url}/shop/demo`,
    document: `${url}/openapi.json`,
  };
  const { endpoint } = flags;
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
      `  curl -H 'Authorization: Bearer ${account.key}' ${addresses.api}`,
    ],
  );
  await interrupted;
  await close();
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
  const { url, close } = await sandbox.listen({ port });
  return {
    url,
    // Opened here, so that there is a shop to look at before the first request.
    demo: sandbox.account('sk_test_demo'),
    close: async () => {
      await close();
      await sandbox.close();
    },
  };
}

/** A line for people, as `send` has it. */
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

/** Where a file has kept the account, the endpoint may be there already. */
async function register(baseUrl: string, url: string): Promise<void> {
  const { webhookEndpoints } = createClient({ baseUrl, auth: { accessToken: 'sk_test_demo' } });
  for await (const endpoint of webhookEndpoints.list()) if (endpoint.url === url) return;
  await webhookEndpoints.create({ url, events: ['order:paid', 'order:updated'] });
}

/** Where a file has kept the shop, it is there already. */
async function fill(account: SandboxAccount, printer: Printer): Promise<void> {
  try {
    await account.seed();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    printer.note('The shop of sk_test_demo is there already, and is left as it is.');
  }
}
