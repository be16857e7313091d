import { Console } from 'node:console';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import { ApiError, createClient } from 'storefront-webhooks/api';
import { type Recovered, type Recovery, recover } from 'storefront-webhooks/recovery';
import { addCredentialFlags, type CredentialFlags, readCredentials } from './credentials.js';
import type { ExitCode } from './failure.js';
import { interrupted } from './interrupted.js';
import { toCount } from './numbers.js';
import type { Printer } from './printer.js';
import { adviceOn } from './recover/advice.js';
import { deliveryLine, tableLines } from './recover/lines.js';
import { loadReceiver } from './recover/load-receiver.js';
import { addCounts, totalByCurrency, totalByOrder } from './recover/totals.js';
import { toDuration, toSince } from './times.js';

interface Flags extends CredentialFlags {
  readonly receiver: string;
  readonly url: readonly string[];
  readonly api: string;
  readonly since: number | Date;
  readonly pendingAfter: number;
  readonly perSecond: number;
  readonly orders?: true;
  readonly recreateEndpoint: boolean;
  readonly apply: boolean;
}

/** `recover`: what a receiver has missed, out of the provider's log. */
export function addRecover(
  program: Command,
  printer: Printer,
  end: (code: ExitCode) => void,
): void {
  const command = program
    .command('recover')
    .summary('bring back what a receiver has missed: nothing is done without --apply')
    .description(
      "Reads the provider's log for what your receiver never answered, and runs it through the same handlers, in this process. What was done is not done again.",
    )
    .requiredOption('--receiver <file>', 'the file of your shop that exports its receiver')
    .requiredOption(
      '--url <address>',
      'the address that the provider sends to; more than once for several',
      (one: string, before: readonly string[] = []) => [...before, one],
    )
    .requiredOption('--api <address>', "where the provider's API is, without /api/v2");
  addCredentialFlags(command)
    .option('--apply', 'do it, and do not only say what was missed', false)
    .option('--since <time>', 'how far back: 12h, 7d, or a date', toSince, toSince('7d'))
    .option(
      '--pending-after <time>',
      'how long an answer may be late',
      toDuration,
      toDuration('5m'),
    )
    .option('--per-second <number>', 'the most requests a second to the API', toCount, 5)
    .option('--orders', 'compare the paid orders as well, as where an endpoint is disabled')
    .option('--recreate-endpoint', 'make a disabled endpoint anew; with --apply', false)
    .addHelpText(
      'after',
      `
The file exports the receiver with its handlers, on its durable store: as receiver, as the
default, or a function that makes it. Importing it must not start a server. Keep that in
another file, which imports this one. TypeScript: NODE_OPTIONS='--import tsx'.

It ends with 0 where nothing is left, and with 1 where something is.

Example:
  npx storefront-webhooks recover --receiver dist/receiver.js --api https://storefront.example \\
    --url https://shop.example/webhooks --since 3d --apply`,
    )
    .action(async (flags: Flags) => end((await run(flags, printer)) ? 0 : 1));
}

const STOPPED = new Error('stopped');

const STEPS = { log: 'log, page', orders: 'orders, page', deliveries: 'delivery' } as const;

/** How long what the shop has left open, such as a pool, may keep this process. */
const EXIT_MS = 1_000;

/** Gives whether nothing is left. */
async function run(flags: Flags, printer: Printer): Promise<boolean> {
  const client = createClient({ baseUrl: flags.api, auth: readCredentials(flags) });
  globalThis.console = toConsole(printer);
  const receiver = await loadReceiver(flags.receiver);
  const stopped = new AbortController();
  void interrupted().then(() => {
    printer.note('Stopping. Once more, and it ends at once.');
    stopped.abort(STOPPED);
  });
  const deliveries: Recovered[] = [];
  const { url, apply, since, pendingAfter, perSecond, orders, recreateEndpoint } = flags;
  try {
    const recovery = await recover({
      ...{ receiver, client, url, apply, since, pendingAfter, perSecond, recreateEndpoint },
      ...(orders && { orders }),
      signal: stopped.signal,
      onProgress({ step, done, of, delivery }) {
        if (delivery) {
          deliveries.push(delivery);
          printer.found(delivery, () => deliveryLine(delivery, printer));
        }
        printer.progress(`${STEPS[step]} ${done}${of === undefined ? '' : ` of ${of}`} …`);
      },
    });
    conclude(recovery, printer);
    for (const line of adviceOn(recovery, url)) printer.note(line);
    return recovery.complete;
  } catch (error) {
    const done = { complete: false, applied: apply, deliveries };
    if (deliveries.length > 0) conclude(done, printer);
    if (error !== STOPPED) throw toUsageError(error);
    printer.note('Stopped. Run it again: it goes on where it was.');
    return false;
  } finally {
    printer.progress(undefined);
    await receiver.close();
    setTimeout(() => process.exit(), EXIT_MS).unref();
  }
}

/** What handlers log goes to stderr, so that it does not come between lines of JSON. */
function toConsole(printer: Printer): Console {
  const stderr = new Writable({
    write(text, _, done) {
      printer.progress(undefined);
      process.stderr.write(text);
      done();
    },
  });
  return new Console(stderr);
}

/** The table for people; for programs the last line, which has `complete`. */
function conclude(
  { complete, applied, deliveries, ...rest }: Partial<Recovery> & Pick<Recovery, 'deliveries'>,
  printer: Printer,
): void {
  const orders = totalByOrder(deliveries);
  const currencies = totalByCurrency(orders);
  printer.found({ complete, applied, ...addCounts(orders), currencies, ...rest }, () =>
    tableLines(orders, currencies, printer),
  );
}

/** Credentials that the provider refuses are a mistake of whoever has given them. */
function toUsageError(error: unknown): unknown {
  const isRefused =
    error instanceof ApiError && (error.code === 'unauthenticated' || error.code === 'forbidden');
  if (!isRefused) return error;
  return new UsageError(
    'option_invalid',
    `The provider's API refuses the credentials (${error.status}): ${error.message} Look at the token, and whether it is of this account.`,
  );
}
