import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { UsageError } from 'storefront-webhooks';
import { ApiError, type Client, createClient } from 'storefront-webhooks/api';
import type { RecoveryProgress, SourceOptions } from 'storefront-webhooks/recovery';
import { addCredentialFlags, type CredentialFlags, readCredentials } from './credentials.js';
import type { ExitCode } from './failure.js';
import { type LoadedShop, loadShop } from './load-shop.js';
import { toCount } from './numbers.js';
import type { Printer } from './printer.js';
import type { Session } from './session.js';
import { toDate, toDuration, toSince } from './times.js';

/** Which shop, at which provider. */
export interface ShopFlags extends CredentialFlags {
  readonly receiver: string;
  readonly url: readonly string[];
  readonly api: string;
  readonly since: number | Date;
  readonly pendingAfter: number;
  readonly perSecond: number;
  readonly now?: Date;
}

/** Gives a command the flags that {@link withShop} takes. */
export function addShopFlags(command: Command): Command {
  command
    .requiredOption('--receiver <file>', 'the file of your shop that exports its receiver')
    .requiredOption(
      '--url <address>',
      'the address that the provider sends to; more than once for several',
      (one: string, before: readonly string[] = []) => [...before, one],
    )
    .requiredOption('--api <address>', "where the provider's API is, without /api/v2");
  return addCredentialFlags(command)
    .addOption(
      new Option('--since <time>', 'how far back: 12h, 7d, or a date')
        .argParser(toSince)
        .default(toSince('7d'), '7d'),
    )
    .addOption(
      new Option('--pending-after <time>', 'how long an answer may be late')
        .argParser(toDuration)
        .default(toDuration('5m'), '5m'),
    )
    .option('--per-second <number>', 'the most requests a second to the API', toCount, 5)
    .option('--now <date>', 'what counts as now, where the provider keeps another time', toDate);
}

/** What the file of a shop has to be: the end of a help text. */
export const EXPORTS = `The file exports the receiver with its handlers, on its durable store: as receiver, as the
default, or a function that makes it. Importing it must not start a server. Keep that in
another file, which imports this one. TypeScript: NODE_OPTIONS='--import tsx'.`;

/** A shop, as recovery takes it. */
export type Shop = Omit<SourceOptions, 'onProgress'>;

const STOPPED = new Error('stopped');

/**
 * Does something with a shop, and leaves it well.
 *
 * @returns What the work gives; `false` where somebody stopped it.
 */
export async function withShop(
  flags: ShopFlags,
  session: Session,
  work: (shop: Shop, exported: LoadedShop) => Promise<boolean>,
): Promise<boolean> {
  const { host, printer } = session;
  const client = createClient({ baseUrl: flags.api, auth: readCredentials(flags, host) });
  const leave = host.admit(toConsole(session), (error) =>
    tellOfCrash(error, flags.receiver, printer),
  );
  try {
    const before = countServers();
    const loaded = await loadShop(flags.receiver, host);
    // A server listens a moment after it was told to.
    await setImmediate();
    if (countServers() > before) {
      printer.note(
        `${flags.receiver} starts a server, which takes requests while this runs. ${APART}`,
      );
    }
    return await withLoaded(flags, session, client, loaded, work);
  } finally {
    leave();
  }
}

async function withLoaded(
  flags: ShopFlags,
  { host, printer }: Session,
  client: Client,
  loaded: LoadedShop,
  work: (shop: Shop, exported: LoadedShop) => Promise<boolean>,
): Promise<boolean> {
  const { receiver } = loaded;
  const stopped = new AbortController();
  void host.interrupted().then(() => {
    printer.note('Stopping. Once more, and it ends at once.');
    stopped.abort(STOPPED);
  });
  const { url, since, pendingAfter, perSecond, now } = flags;
  const { signal } = stopped;
  printer.progress('asking the provider …');
  try {
    const shop = {
      ...{ receiver, client, url, since, pendingAfter, perSecond, signal },
      ...(now && { now }),
    };
    return await work(shop, loaded);
  } catch (error) {
    if (error !== STOPPED) throw toUsageError(error);
    printer.note('Stopped. Run it again: it goes on where it was.');
    return false;
  } finally {
    printer.progress(undefined);
    await receiver.close();
  }
}

function countServers(): number {
  const resources = process.getActiveResourcesInfo?.() ?? [];
  return resources.filter((name) => name === 'TCPServerWrap').length;
}

const APART = 'Keep listen() in another file, which imports the receiver.';

/** A server that the file starts mostly fails a moment later: the shop itself has the port. */
function tellOfCrash(error: unknown, file: string, printer: Printer): ExitCode {
  const isTaken = error instanceof Error && Reflect.get(error, 'code') === 'EADDRINUSE';
  printer.progress(undefined);
  printer.note(
    isTaken
      ? `${file} starts a server when it is imported, and its port is in use. ${APART}`
      : `${file} failed: ${error instanceof Error ? error.stack : error}`,
  );
  return isTaken ? 2 : 1;
}

const STEPS = { log: 'log, page', orders: 'orders, page', deliveries: 'delivery' } as const;

/** Shows how far it is; that the provider is waited for is told in a pipe, too. */
export function showProgress({ step, done, of }: RecoveryProgress, printer: Printer): void {
  if (step !== 'waiting') {
    printer.progress(`${STEPS[step]} ${done}${of === undefined ? '' : ` of ${of}`} …`);
  } else if (done === 1) {
    printer.note('The provider cannot answer now. It is asked again …');
  }
}

/** What handlers log goes to stderr, so that it does not come between lines of JSON. */
function toConsole({ host, printer }: Session): Console {
  const stderr = new Writable({
    write(text, _, done) {
      printer.progress(undefined);
      host.stderr.write(String(text));
      done();
    },
  });
  return new Console(stderr);
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
